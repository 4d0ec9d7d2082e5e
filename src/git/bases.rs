//! Which refs work lands on (DESIGN section 2). Nothing is guessed.
//!
//! "auto" is, for each remote that policy names: the target of `refs/remotes/<r>/HEAD`, or where that ref is absent the
//! usual default branch that alone exists; and the local twin. Without a remote it is the same in `refs/heads`.
//!
//! Several remotes make a union. A remote that has branches here but whose default cannot be told makes the whole
//! unresolved: work may have landed there, or been measured against it, and leaving it out would be a guess. A remote
//! without any remote-tracking branch (push only, never fetched) says nothing about landings, and is passed over when
//! another one resolves.

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};

use super::{Repository, fetch};
use crate::error::chain;
use crate::model::{Base, Fact, shell};
use crate::policy::{Policy, matches_remote};

/// What a ref leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Followed {
    /// There is no such ref.
    Absent,
    /// It is symbolic and its target (this) does not exist.
    Dangling(BString),
    /// The ref at the end of the way, and its value.
    Found(BString, ObjectId),
}

/// The bases of a repository as policy names them; `Unknown` is `base-unresolved` and names what would fix it.
pub fn resolve(repo: &Repository, policy: &Policy) -> Fact<Vec<Base>> {
    let gix = repo.local();
    let resolver = Resolver { repo, gix: &gix, policy };
    resolver.resolve().into()
}

/// The remote that a remote-tracking ref belongs to: the longest configured name that fits, for names may hold slashes.
pub(crate) fn remote_of(gix: &gix::Repository, full: &BStr) -> Option<BString> {
    let path = full.strip_prefix(b"refs/remotes/")?;
    let fits = |name: &BString| path.strip_prefix(name.as_slice()).is_some_and(|rest| rest.starts_with(b"/"));
    gix.remote_names().into_iter().filter(fits).max_by_key(|name| name.len())
}

/// The branch that a ref stands for: `main` of `refs/heads/main` and of `refs/remotes/origin/main`.
pub(crate) fn branch_of(gix: &gix::Repository, full: &BStr) -> BString {
    if let Some(short) = full.strip_prefix(b"refs/heads/") {
        return short.into();
    }
    let Some(path) = full.strip_prefix(b"refs/remotes/") else { return full.to_owned() };
    let skip = match remote_of(gix, full) {
        Some(remote) => remote.len() + 1,
        // Left over from a remote that is configured no more.
        None => path.find_byte(b'/').map_or(0, |at| at + 1),
    };
    path[skip..].into()
}

/// The usual names of a default branch: `init.defaultBranch`, `main`, `master`, `trunk`.
pub(crate) fn default_names(gix: &gix::Repository) -> Vec<BString> {
    let mut names: Vec<BString> = gix.config_snapshot().string("init.defaultBranch").into_iter().collect();
    for usual in ["main", "master", "trunk"] {
        if !names.iter().any(|name| name == usual) {
            names.push(usual.into());
        }
    }
    names.retain(|name| gix::validate::reference::name_partial(name.as_ref()).is_ok());
    names
}

/// Follow a ref, by its full name, to where it leads.
///
/// # Errors
/// When a ref cannot be read, or symbolic ones lead nowhere.
pub(crate) fn follow(gix: &gix::Repository, full: &BStr) -> Result<Followed, String> {
    let mut name = full.to_owned();
    // As many steps as git takes.
    for step in 0..5 {
        let valid = gix::refs::FullName::try_from(name.clone()).map_err(|e| format!("'{name}': {}", chain(&e)))?;
        let found =
            gix.try_find_reference(valid.as_ref()).map_err(|e| format!("cannot read '{name}': {}", chain(&e)))?;
        // gix also finds a full name below other prefixes; that is another ref.
        let Some(found) = found.filter(|found| found.name().as_bstr() == name) else {
            return Ok(if step == 0 { Followed::Absent } else { Followed::Dangling(name) });
        };
        name = match found.target() {
            gix::refs::TargetRef::Object(id) => return Ok(Followed::Found(name, id.to_owned())),
            gix::refs::TargetRef::Symbolic(target) => target.as_bstr().to_owned(),
        };
    }
    Err(format!("'{full}' is a symbolic ref that does not end"))
}

/// The local twin of a base: the local branch whose upstream it is, else the one of the same name. `git worktree add
/// -b <shadow> origin/main` makes the base a shadow's upstream too; that is no twin. Nor is one of several others.
///
/// # Errors
/// When a ref or the configuration of a branch cannot be read.
pub(crate) fn local_twin(
    gix: &gix::Repository,
    policy: &Policy,
    base: &BStr,
) -> Result<Option<(BString, ObjectId)>, String> {
    let Some(remote) = remote_of(gix, base) else { return Ok(None) };
    let same_name = heads(branch_of(gix, base));
    let config = gix.config_snapshot();
    let mut tracking = Vec::new();
    for section in config.plumbing().sections_by_name("branch").into_iter().flatten() {
        let Some(branch) = section.header().subsection_name() else { continue };
        if section.value("remote").as_ref() != Some(&remote) {
            continue;
        }
        let full = heads(branch);
        if full != same_name && policy.is_shadow_branch(full.as_ref()) {
            continue;
        }
        let Ok(name) = gix::refs::FullName::try_from(full.clone()) else { continue };
        let upstream = match gix.branch_remote_tracking_ref_name(name.as_ref(), gix::remote::Direction::Fetch) {
            None => continue,
            Some(Err(e)) => return Err(format!("cannot tell the upstream of '{full}': {}", chain(&e))),
            Some(Ok(upstream)) => upstream,
        };
        if upstream.as_bstr() == base && !tracking.contains(&full) {
            tracking.push(full);
        }
    }
    let mut exists = Vec::new();
    for name in tracking {
        if let Followed::Found(name, tip) = follow(gix, name.as_ref())? {
            exists.push((name, tip));
        }
    }
    if exists.len() == 1 && exists.iter().all(|(name, _)| name.starts_with(b"refs/heads/")) {
        return Ok(exists.pop());
    }
    match follow(gix, same_name.as_ref())? {
        Followed::Found(name, tip) if name.starts_with(b"refs/heads/") => Ok(Some((name, tip))),
        Followed::Found(..) | Followed::Absent | Followed::Dangling(_) => Ok(None),
    }
}

/// `refs/heads/main` of `main`.
pub(crate) fn heads(short: impl AsRef<[u8]>) -> BString {
    [b"refs/heads/", short.as_ref()].concat().into()
}

struct Resolver<'a> {
    repo: &'a Repository,
    gix: &'a gix::Repository,
    policy: &'a Policy,
}

impl Resolver<'_> {
    fn resolve(&self) -> Result<Vec<Base>, String> {
        let mut found: Vec<(BString, ObjectId)> = Vec::new();
        for entry in self.policy.base.iter() {
            let refs = if entry == "auto" { self.auto()? } else { vec![self.named(entry)?] };
            for (name, tip) in refs {
                if !found.iter().any(|(known, _)| *known == name) {
                    found.push((name, tip));
                }
            }
        }
        found.into_iter().map(|(name, tip)| self.base(name, tip)).collect()
    }

    fn base(&self, name: BString, tip: ObjectId) -> Result<Base, String> {
        let header = self.gix.find_header(tip).map_err(|e| format!("base '{name}' is broken: {}", chain(&e)))?;
        if header.kind() != gix::object::Kind::Commit {
            return Err(format!("base '{name}' is not a commit"));
        }
        let fetched_at = fetch::fetched_at(self.repo, self.gix, name.as_ref(), tip);
        Ok(Base { name, tip, fetched_at })
    }

    /// A base that policy names: a full name, or a short one that is either a local or a remote-tracking branch.
    fn named(&self, entry: &str) -> Result<(BString, ObjectId), String> {
        let full: Vec<BString> = if entry.starts_with("refs/") {
            vec![entry.into()]
        } else {
            vec![format!("refs/heads/{entry}").into(), format!("refs/remotes/{entry}").into()]
        };
        let mut found = Vec::new();
        for name in full {
            match follow(self.gix, name.as_ref())? {
                Followed::Found(name, tip) => found.push((name, tip)),
                Followed::Dangling(target) => {
                    return Err(format!("base '{entry}' points at '{target}', which does not exist; change 'base'"));
                }
                Followed::Absent => {}
            }
        }
        match found.len() {
            0 => Err(format!("base '{entry}' does not exist; fetch it, or change 'base'")),
            1 => found.pop().ok_or_else(String::new),
            _ => Err(format!("base '{entry}' is both a local and a remote-tracking branch; write its full name")),
        }
    }

    fn auto(&self) -> Result<Vec<(BString, ObjectId)>, String> {
        let remotes = self.gix.remote_names();
        if remotes.is_empty() || (self.repo.is_bare() && !self.any_ref("refs/remotes/")?) {
            return self.local().map(|base| vec![base]);
        }
        let chosen: Vec<_> = remotes.iter().filter(|r| matches_remote(&self.policy.remotes, r.as_ref())).collect();
        let mut found = Vec::new();
        for remote in &chosen {
            found.extend(self.default_of(remote.as_ref())?);
        }
        if found.is_empty() {
            return Err(match chosen.first() {
                None => format!("'remotes' names none of the remotes; there is {}", quoted(&remotes)),
                Some(remote) => format!(
                    "remote '{remote}' has no remote-tracking branches; run 'git fetch {}', \
                     or name a local branch as 'base' in your own configuration",
                    shell::word(remote.as_bytes())
                ),
            });
        }
        let mut all = found.clone();
        for (name, _) in &found {
            all.extend(local_twin(self.gix, self.policy, name.as_ref())?);
        }
        Ok(all)
    }

    /// The default branch of a remote; `None` where the remote has no branches here.
    fn default_of(&self, remote: &BStr) -> Result<Option<(BString, ObjectId)>, String> {
        let prefix = format!("refs/remotes/{remote}/");
        let head = format!("{prefix}HEAD");
        let set_head = format!("run 'git remote set-head {} --auto'", shell::word(remote));
        match follow(self.gix, head.as_str().into())? {
            Followed::Found(name, tip) if name != head.as_str() && name.starts_with(prefix.as_bytes()) => {
                return Ok(Some((name, tip)));
            }
            Followed::Found(name, _) if name == head.as_str() => {
                return Err(format!("'{head}' is not a symbolic ref; {set_head}"));
            }
            Followed::Found(name, _) => {
                return Err(format!("'{head}' points at '{name}', which is not a branch of '{remote}'; {set_head}"));
            }
            Followed::Dangling(target) => {
                return Err(format!("'{head}' points at '{target}', which does not exist; {set_head}"));
            }
            Followed::Absent => {}
        }
        let mut candidates = self.existing(prefix.as_bytes())?;
        match candidates.len() {
            1 => Ok(candidates.pop()),
            0 if !self.has_branches(remote)? => Ok(None),
            0 => Err(format!("'{head}' does not exist and remote '{remote}' has no usual default branch; {set_head}")),
            _ => Err(format!(
                "'{head}' does not exist and remote '{remote}' has {}; {set_head}",
                quoted(candidates.iter().map(|(name, _)| name))
            )),
        }
    }

    /// Whether there is any remote-tracking branch of this remote, and not of one with a longer name.
    fn has_branches(&self, remote: &BStr) -> Result<bool, String> {
        let prefix = format!("refs/remotes/{remote}/");
        for name in self.names(&prefix)? {
            if remote_of(self.gix, name?.as_ref()).is_some_and(|owner| owner == remote) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn any_ref(&self, prefix: &str) -> Result<bool, String> {
        self.names(prefix)?.next().transpose().map(|name| name.is_some())
    }

    fn names(&self, prefix: &str) -> Result<impl Iterator<Item = Result<BString, String>>, String> {
        let unreadable = |e: String| format!("cannot read the refs below '{prefix}': {e}");
        let platform = self.gix.references().map_err(|e| unreadable(chain(&e)))?;
        let names: Vec<_> = platform
            .prefixed(prefix)
            .map_err(|e| unreadable(chain(&e)))?
            .map(|r| r.map(|r| r.name().as_bstr().to_owned()).map_err(|e| unreadable(e.to_string())))
            .collect();
        Ok(names.into_iter())
    }

    /// Without remotes: for a bare repository HEAD's branch, else the usual default branch that alone exists.
    fn local(&self) -> Result<(BString, ObjectId), String> {
        if self.repo.is_bare() {
            let head = self.gix.head_name().map_err(|e| format!("cannot read HEAD: {}", chain(&e)))?;
            if let Some(head) = head {
                return match follow(self.gix, head.as_bstr())? {
                    Followed::Found(name, tip) => Ok((name, tip)),
                    Followed::Absent | Followed::Dangling(_) => Err(format!(
                        "HEAD points at '{}', which does not exist; run 'git symbolic-ref HEAD refs/heads/<branch>'",
                        head.as_bstr()
                    )),
                };
            }
        }
        let mut candidates = self.existing(b"refs/heads/")?;
        match candidates.len() {
            1 => candidates.pop().ok_or_else(String::new),
            0 => {
                Err("there is no remote and no usual default branch; run 'git config init.defaultBranch <branch>'"
                    .into())
            }
            _ => Err(format!(
                "there is no remote and {} exist; name one as 'base' in '.shadowrc'",
                quoted(candidates.iter().map(|(name, _)| name))
            )),
        }
    }

    /// The usual default branches that exist below a prefix.
    fn existing(&self, prefix: &[u8]) -> Result<Vec<(BString, ObjectId)>, String> {
        let mut found = Vec::new();
        for name in default_names(self.gix) {
            let full: BString = [prefix, name.as_slice()].concat().into();
            match follow(self.gix, full.as_ref())? {
                Followed::Found(name, tip) if !found.contains(&(name.clone(), tip)) => found.push((name, tip)),
                Followed::Found(..) | Followed::Absent => {}
                Followed::Dangling(target) => {
                    return Err(format!("'{full}' points at '{target}', which does not exist"));
                }
            }
        }
        Ok(found)
    }
}

fn quoted<'a>(names: impl IntoIterator<Item = &'a BString>) -> String {
    names.into_iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(" and ")
}
