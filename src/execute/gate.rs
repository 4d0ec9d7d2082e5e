//! Steps 1 and 2: judged again, and looked at by git itself between two readings of the tree.

use gix::bstr::{BString, ByteSlice as _};

use super::{Stop, Witness};
use crate::git::Repository;
use crate::inspect::worktree::git_status;
use crate::journal::Operation;
use crate::judge::{Judgement, Release, ReleaseWorktree};
use crate::model::Evidence;
use crate::plan::{Planned, difference};
use crate::sys::tree::{self, Class, Snapshot};

/// The release as it is judged now, if it still is the planned one.
pub(super) fn again(planned: &Planned, fresh: &[Judgement], earlier: &[Operation]) -> Result<Release, Stop> {
    let step = planned.first_step();
    let Some(now) = fresh.iter().find(|judgement| is_same(planned, &judgement.evidence)) else {
        return Err(match by_whom(planned, earlier) {
            Some(operation) => Stop::done(step, format!("by operation {operation}")),
            None => Stop::raced(step, "it is gone"),
        });
    };
    let Some(release) = &now.release else {
        let hold = now.holds.first().map_or("it is held now".into(), |hold| hold.message.clone());
        return Err(Stop::raced(step, format!("held meanwhile: {hold}")));
    };
    match difference(&planned.release, release) {
        Some(why) => Err(Stop::raced(step, why)),
        None => Ok(release.clone()),
    }
}

fn is_same(planned: &Planned, evidence: &Evidence) -> bool {
    let shadow = &evidence.shadow;
    match planned.release.worktree() {
        Some(worktree) => shadow.worktree.as_ref().is_some_and(|now| now.id == worktree.registration.id),
        None => {
            let name = planned.release.branch().map(|branch| &branch.name);
            shadow.branch.as_ref().map(|branch| &branch.name) == name
        }
    }
}

/// The operation that released the same thing meanwhile.
fn by_whom(planned: &Planned, earlier: &[Operation]) -> Option<String> {
    let branch = planned.release.branch().map(|branch| (&branch.name, branch.tip));
    let id = planned.release.worktree().map(|worktree| &worktree.registration.id);
    let mut items = earlier.iter().rev().flat_map(|operation| &operation.items);
    let found = items.find(|item| {
        let released = item.released.is_some() && item.undone.is_none();
        let same_branch = branch.is_none_or(|(name, tip)| {
            item.released_branch(name.as_ref()) && item.intent.branches.iter().any(|b| b.name == *name && b.tip == tip)
        });
        released && same_branch && id.is_none_or(|id| item.intent.worktree.as_ref().is_some_and(|w| w.id == *id))
    });
    found.map(|item| item.operation.clone())
}

/// The tree as it is, which git says is clean; `None` where there is none.
pub(super) fn look(
    repo: &Repository,
    witness: &mut dyn Witness,
    planned: &Planned,
    worktree: &ReleaseWorktree,
) -> Result<Option<Snapshot>, Stop> {
    let step = planned.first_step();
    let (true, Some(path)) = (worktree.present, &worktree.registration.path) else { return Ok(None) };
    let snapshot = witness.snapshot(&worktree.registration).map_err(|error| Stop::raced(step, error.message))?;
    if worktree.root.is_some_and(|root| root != (snapshot.root.dev, snapshot.root.ino)) {
        return Err(Stop::raced(step, "the directory is another one now"));
    }
    let status = git_status(repo, &worktree.registration).map_err(|error| Stop::failed(step, error))?;
    let saved = |path: &&BString| {
        let path = path.strip_suffix(b"/").unwrap_or(path).as_bstr();
        let at = snapshot.entries.binary_search_by(|entry| entry.path.as_bstr().cmp(path));
        at.is_ok_and(|at| snapshot.entries[at].class == Class::Saved)
    };
    let untracked = status.untracked.iter().filter(|path| !saved(path));
    let dirty: Vec<String> = status.tracked.iter().chain(untracked).map(|path| path.to_string()).collect();
    if !dirty.is_empty() {
        return Err(Stop::raced(step, format!("git says that it is not clean: {}", dirty.join(", "))));
    }
    let changed = tree::differences(path, &snapshot).map_err(|error| Stop::failed(step, error))?;
    if !changed.is_empty() {
        return Err(Stop::raced(step, format!("changed meanwhile: {}", listed(&changed))));
    }
    Ok(Some(snapshot))
}

/// A few paths, for people.
pub(super) fn listed(paths: &[BString]) -> String {
    let mut text: Vec<String> = paths.iter().take(3).map(ToString::to_string).collect();
    if paths.len() > 3 {
        text.push(format!("and {} more", paths.len() - 3));
    }
    text.join(", ")
}
