//! Past the commit point: the configuration is tidied and the files that were proved are deleted. What cannot be done
//! now is left for the next run, under the same rule; it never turns a finished release into an error.

use std::path::Path;

use super::failpoint::failpoint;
use super::{config, exclude};
use crate::error::{Error, Result};
use crate::git::Repository;
use crate::journal::{Item, Mark, Marker, files};
use crate::model::bytes;
use crate::sys::clock;
use crate::sys::tree::{self, Class, Entry, Snapshot};

/// How finishing ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finished {
    /// All of it.
    Done,
    /// All that may be done; what stays where the tree was renamed to, because nothing proves it.
    Left(String),
    /// Some of it is for the next run.
    Pending(String),
}

/// Write the mark that the commit point is passed.
pub(super) fn mark_released(item: &mut Item, branches: Vec<String>) -> Result<()> {
    let mark = Mark { worktree: item.intent.worktree.is_some(), branches, ..Mark::new(clock::now(), None) };
    item.mark(Marker::Released, mark)
}

/// Every branch of an item, as a mark names them.
pub(super) fn all_branches(item: &Item) -> Vec<String> {
    item.intent.branches.iter().map(|branch| bytes::encode(&branch.name)).collect()
}

/// Do what is left to be done of a released item.
pub(super) fn finish(repo: &Repository, item: &mut Item) -> Finished {
    let mut pending = Vec::new();
    if let Err(error) = tidy_config(repo, item) {
        pending.push(error.message);
    }
    failpoint("config");
    let mut left = Vec::new();
    match delete(item) {
        Ok(leftovers) => {
            left = leftovers.unproved.iter().map(|path| bytes::encode(path)).collect();
            pending.extend(leftovers.failed.into_iter().map(|(path, why)| format!("{path}: {why}")));
        }
        Err(error) => pending.push(error.message),
    }
    failpoint("deleted");
    if item.intent.worktree.is_some() {
        // As git does with the last one; one that is not empty stays, and this is no error.
        let _ = fs_err::remove_dir(repo.common_dir().join("worktrees"));
    }
    if pending.is_empty()
        && let Some(exclude) = item.intent.worktree.as_ref().and_then(|w| w.exclude.as_ref())
        && let Err(error) = exclude::remove(exclude)
    {
        pending.push(error.message);
    }
    if !pending.is_empty() {
        return Finished::Pending(format!("left for the next run: {}", pending.join("; ")));
    }
    let kept = (!left.is_empty()).then(|| {
        let hidden = item.intent.worktree.as_ref().and_then(|w| w.hidden()).unwrap_or_default();
        format!("what came in meanwhile stays in '{}': {}", hidden.display(), left.join(", "))
    });
    let mark = Mark { left, ..Mark::new(clock::now(), kept.clone()) };
    if let Err(error) = item.mark(Marker::Done, mark) {
        return Finished::Pending(format!("left for the next run: {}", error.message));
    }
    failpoint("done");
    kept.map_or(Finished::Done, Finished::Left)
}

fn tidy_config(repo: &Repository, item: &Item) -> Result<()> {
    let released = |name: &gix::bstr::BStr| item.released_branch(name);
    let names = item.intent.branches.iter().map(|branch| branch.name.as_ref()).filter(|name| released(name));
    // A branch of that name that was made anew meanwhile keeps its configuration.
    let mut gone = Vec::new();
    for name in names {
        if crate::git::read_ref(repo, name)?.is_none() {
            gone.push(name);
        }
    }
    config::remove(repo, gone)
}

fn delete(item: &Item) -> Result<tree::Leftovers> {
    let nothing = Ok(tree::Leftovers::default());
    let Some(worktree) = &item.intent.worktree else { return nothing };
    let Some(hidden) = worktree.hidden() else {
        worktree.path().iter().for_each(|path| delete_skeleton(path));
        return nothing;
    };
    if tree::stat(&hidden)?.is_none() {
        return nothing;
    }
    let snapshot: Option<Snapshot> = files::read_json(&item.snapshot())?;
    let snapshot = snapshot.ok_or_else(|| Error::failed("journal", "the snapshot is not there"))?;
    tree::delete_proved(&hidden, &snapshot)
}

/// A purged worktree may have left empty directories. They hold nothing; one that does is left alone.
fn delete_skeleton(path: &Path) {
    let Ok(found) = tree::walk(path, |_, _| true) else { return };
    if found.entries.iter().any(|(_, stat)| !stat.is_dir()) {
        return;
    }
    let entries = found.entries.into_iter().map(|(path, stat)| Entry { path, stat, class: Class::Directory }).collect();
    // Only what is empty goes; what cannot go harms nobody.
    let _ = tree::delete_proved(path, &Snapshot { root: found.root, entries });
}
