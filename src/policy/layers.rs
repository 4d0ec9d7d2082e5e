//! How layers meet: the user's file replaces what is built in, a repository's may only narrow.

use std::time::Duration;

use gix::bstr::{BString, ByteSlice as _};

use super::file::{At, File, List};
use super::{Policy, Source, Sourced, pattern};
use crate::error::{Error, Result};
use crate::git::{Repository, bases};
use crate::model::{Base, short_name};

impl<T> Sourced<T> {
    pub(super) fn built_in(value: T) -> Self {
        Sourced { value, from: vec![Source::Default] }
    }

    fn replace(&mut self, value: Option<T>, source: &Source) {
        if let Some(value) = value {
            *self = Sourced { value, from: vec![source.clone()] };
        }
    }
}

impl<T: PartialEq> Sourced<Vec<T>> {
    fn replace_list(&mut self, list: List<T>, source: &Source) {
        self.replace(list.map(|list| list.into_iter().map(|at| at.value).collect()), source);
    }

    /// Union; a source that adds nothing new is none.
    fn add(&mut self, list: List<T>, source: &Source) {
        let before = self.value.len();
        for At { value, .. } in list.into_iter().flatten() {
            if !self.value.contains(&value) {
                self.value.push(value);
            }
        }
        if self.value.len() > before {
            // An empty value that is built in contributes nothing to be named.
            if before == 0 {
                self.from.clear();
            }
            self.from.push(source.clone());
        }
    }
}

impl Sourced<Duration> {
    fn lengthen(&mut self, value: Option<Duration>, source: &Source) {
        self.replace(value.filter(|value| *value > self.value), source);
    }
}

impl Sourced<bool> {
    /// `winner` wins whoever says it.
    fn settle(&mut self, winner: bool, value: Option<bool>, source: &Source) {
        self.replace(value.filter(|value| *value == winner && self.value != winner), source);
    }
}

/// The user's file over what is built in.
pub(super) fn user(policy: &mut Policy, file: File) {
    let source = &file.source;
    policy.base.replace_list(file.base, source);
    policy.remotes.replace_list(file.remotes, source);
    policy.protect.add(file.protect, source);
    policy.keep.replace(file.keep, source);
    policy.branches.replace_list(file.branches, source);
    policy.roots.replace_list(file.roots, source);
    policy.grace.unused.replace(file.unused, source);
    policy.grace.pushed.replace(file.pushed, source);
    policy.grace.dead.replace(file.dead, source);
    policy.grace.purged.replace(file.purged, source);
    policy.grace.landed.replace(file.landed, source);
    policy.landing_pushed.replace(file.landing_pushed, source);
    policy.disposable.add(file.disposable, source);
    policy.ignored_save.replace_list(file.ignored_save, source);
    policy.untracked_save.replace_list(file.untracked_save, source);
    policy.purged_roots.replace_list(file.purged_roots, source);
    policy.stale_locks_release.replace(file.stale_locks_release, source);
    policy.hook_post_merge.replace(file.hook_post_merge, source);
    policy.hook_pre_push.replace(file.hook_pre_push, source);
}

/// The repository's file: it describes the project and may narrow. The parser has refused the user's keys.
///
/// # Errors
/// 128 where it would make a base a shadow or a shadow a base.
pub(super) fn repository(policy: &mut Policy, file: File, repo: &Repository) -> Result<()> {
    let source = file.source.clone();
    let added = file.branches.clone();
    for at in added.iter().flatten() {
        if pattern::covers_everything(&at.value) {
            let message = format!("pattern '{}' would make every branch a shadow", at.value);
            return Err(file.error(at.offset, message));
        }
    }
    if let Some(entries) = &file.base {
        policy.base.value = accepted_bases(policy, &file, entries, repo)?;
        policy.base.from = vec![source.clone()];
    }
    policy.remotes.replace_list(file.remotes.clone(), &source);
    policy.branches.add(file.branches.clone(), &source);
    if let Some(added) = &added {
        refuse_bases(policy, &file, added, repo)?;
    }
    policy.protect.add(file.protect, &source);
    policy.keep.lengthen(file.keep, &source);
    policy.grace.unused.lengthen(file.unused, &source);
    policy.grace.pushed.lengthen(file.pushed, &source);
    policy.grace.dead.lengthen(file.dead, &source);
    policy.grace.purged.lengthen(file.purged, &source);
    policy.grace.landed.lengthen(file.landed, &source);
    policy.landing_pushed.settle(true, file.landing_pushed, &source);
    policy.disposable.add(file.disposable, &source);
    policy.hook_post_merge.settle(false, file.hook_post_merge, &source);
    policy.hook_pre_push.settle(false, file.hook_pre_push, &source);
    Ok(())
}

/// No added pattern may match a base. The usual default branches count as bases, so that what a pattern means does
/// not depend on what has been fetched.
fn refuse_bases(policy: &Policy, file: &File, added: &[At<String>], repo: &Repository) -> Result<()> {
    let gix = repo.local();
    let mut names: Vec<BString> = bases::default_names(&gix);
    let resolved = bases::resolve(repo, policy);
    names.extend(resolved.known().into_iter().flatten().map(|base| bases::branch_of(&gix, base.name.as_ref())));
    for at in added {
        for name in &names {
            if pattern::matches_branch(&at.value, bases::heads(name).as_ref()) {
                let message = format!("pattern '{}' covers '{name}', which work lands on", at.value);
                return Err(file.error(at.offset, message));
            }
        }
    }
    Ok(())
}

/// The bases that the repository's file names, by their full names: remote-tracking refs, what is a base without it,
/// and the usual default branches (so that it can say which of several is meant); never a shadow's, for then a session
/// could land its work on itself.
fn accepted_bases(policy: &Policy, file: &File, entries: &[At<String>], repo: &Repository) -> Result<Vec<String>> {
    let gix = repo.local();
    let resolved = bases::resolve(repo, policy);
    let existing = resolved.known().map_or(&[][..], Vec::as_slice);
    let usual: Vec<BString> = bases::default_names(&gix).iter().map(bases::heads).collect();
    let accept = |At { value, offset }: &At<String>| {
        if value == "auto" {
            return Ok(value.clone());
        }
        let refused = |why: &str| file.error(*offset, format!("base '{value}' {why}"));
        let full = full_name(&gix, value, existing);
        let real = match bases::follow(&gix, full.as_ref()).map_err(|e| refused(&format!("cannot be read: {e}")))? {
            bases::Followed::Found(name, _) | bases::Followed::Dangling(name) => name,
            bases::Followed::Absent => full.clone(),
        };
        let is_base = usual.contains(&real) || existing.iter().any(|base| base.name == real);
        if !is_base && bases::remote_of(&gix, real.as_ref()).is_none() {
            return Err(foreign_base(refused("is neither a remote-tracking branch nor a base already")));
        }
        if !is_base && policy.is_shadow_branch(bases::heads(bases::branch_of(&gix, real.as_ref())).as_ref()) {
            return Err(refused("is a shadow's branch"));
        }
        // The file is UTF-8 and so is the name it gave.
        Ok(full.to_string())
    };
    entries.iter().map(accept).collect()
}

fn foreign_base(error: Error) -> Error {
    error.hint("a local branch can be made a base in $XDG_CONFIG_HOME/git-shadow/config.toml")
}

fn full_name(gix: &gix::Repository, name: &str, existing: &[Base]) -> BString {
    let by_short = existing.iter().find(|base| short_name(base.name.as_ref()) == name.as_bytes().as_bstr());
    let remote: BString = format!("refs/remotes/{name}").into();
    match by_short {
        _ if name.starts_with("refs/") => name.into(),
        Some(base) => base.name.clone(),
        None if bases::remote_of(gix, remote.as_ref()).is_some() => remote,
        None => bases::heads(name),
    }
}
