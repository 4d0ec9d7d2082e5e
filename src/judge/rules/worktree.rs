//! Holds that a worktree and its registration have.

use std::time::Duration;

use gix::bstr::{BString, ByteSlice as _};

use super::{Case, hold, named, paths};
use crate::judge::age;
use crate::model::{Code, Fact, Hold, LeaseState, LockKind, On, Place, Use};

pub(super) fn current(case: &Case<'_>) -> Vec<Hold> {
    match case.worktree().and_then(|w| w.current.known()) {
        Some(true) => vec![hold(Code::Current, On::Worktree, "current worktree", "leave its directory first")],
        Some(false) | None => Vec::new(),
    }
}

pub(super) fn live(case: &Case<'_>) -> Vec<Hold> {
    let Some(Some(lease)) = case.evidence.lease.known() else { return Vec::new() };
    match &lease.state {
        LeaseState::Live(why) => {
            vec![hold(Code::Live, On::Both, format!("session '{}': {why}", lease.id), "end the session")]
        }
        LeaseState::Dead | LeaseState::Released => Vec::new(),
    }
}

pub(super) fn in_use(case: &Case<'_>) -> Vec<Hold> {
    let Some(users) = case.worktree().and_then(|w| w.in_use.known()) else { return Vec::new() };
    let found = in_use_of(users);
    found.map(|(message, remedy)| hold(Code::InUse, On::Worktree, message, remedy)).into_iter().collect()
}

/// Who uses a place, and what would help.
pub(in crate::judge) fn in_use_of(users: &[Use]) -> Option<(String, &'static str)> {
    let first = users.first()?;
    let more = match users.len() - 1 {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Some(match first {
        Use::Process { pid, name, what, path } => {
            (format!("process {pid} ({name}) has its {what} inside: '{}'{more}", path.display()), "end the process")
        }
        Use::Mount(path) => (format!("'{}' is a mount point{more}", path.display()), "unmount it"),
    })
}

pub(super) fn locked(case: &Case<'_>) -> Vec<Hold> {
    let mut holds = Vec::new();
    if let Some(Some(lock)) = case.worktree().and_then(|w| w.lock.known()) {
        let unlock = "'git worktree unlock', when whoever locked it agrees";
        let message = match lock.reason.to_str_lossy().trim() {
            "" => "locked".to_owned(),
            reason => format!("locked: {reason}"),
        };
        match lock.kind {
            LockKind::ByHand => holds.push(hold(Code::Locked, On::Both, message, unlock)),
            LockKind::Undone if !case.terms.named => {
                holds.push(hold(Code::Locked, On::Both, "taken back by undo", RELEASE));
            }
            LockKind::Process { stale: true, .. } if case.terms.named || *case.policy.stale_locks_release => {}
            LockKind::Process { stale: true, pid } => {
                let message = format!("{message} (stale: process {pid} is gone)");
                holds.push(hold(Code::Locked, On::Both, message, RELEASE));
            }
            LockKind::Process { stale: false, .. } => holds.push(hold(Code::Locked, On::Both, message, unlock)),
            LockKind::Releasing => {
                holds.push(hold(
                    Code::Locked,
                    On::Both,
                    message,
                    "'git shadow prune-sessions --yes' finishes what was begun",
                ));
            }
            LockKind::Initializing | LockKind::Undone => {}
        }
    }
    let undone = case.evidence.branch.as_ref().and_then(|b| b.undone.known());
    if undone == Some(&true) && !case.terms.named {
        holds.push(hold(Code::Locked, On::Both, "taken back by undo", RELEASE));
    }
    holds
}

/// Passes a mark of undo and a stale lock.
const RELEASE: &str = "'git shadow release <shadow>'";

/// A registration younger than this, without own work, may still be in the hands of 'git worktree add'.
const BEING_MADE: Duration = Duration::from_secs(60);

pub(super) fn initializing(case: &Case<'_>) -> Vec<Hold> {
    let Some(worktree) = case.worktree() else { return Vec::new() };
    let by_lock = matches!(worktree.lock.known(), Some(Some(lock)) if lock.kind == LockKind::Initializing);
    let young = worktree.created.known().is_some_and(|created| age::since(*created, case.now) < BEING_MADE);
    if by_lock {
        let remedy = "wait for 'git worktree add', or unlock it if that was killed";
        return vec![hold(Code::Initializing, On::Both, "still being created", remedy)];
    }
    if young && worktree.own_work.known() != Some(&true) {
        let message = "made less than a minute ago, perhaps still being created";
        return vec![hold(Code::Initializing, On::Both, message, "wait a minute")];
    }
    Vec::new()
}

pub(super) fn operation(case: &Case<'_>) -> Vec<Hold> {
    match case.worktree().and_then(|w| w.operation.known()) {
        Some(found) if !found.is_empty() => {
            let remedy = "finish or abort it";
            vec![hold(Code::Operation, On::Both, found.join(", "), remedy)]
        }
        Some(_) | None => Vec::new(),
    }
}

pub(super) fn dirty(case: &Case<'_>) -> Vec<Hold> {
    let Some(status) = case.worktree().and_then(|w| w.status.known()) else { return Vec::new() };
    let remedy = if status.only_line_endings { "only line endings differ" } else { "commit or discard them" };
    paths(Some(&status.tracked), Code::Dirty, ["path changed", "paths changed"], remedy)
}

pub(super) fn untracked(case: &Case<'_>) -> Vec<Hold> {
    let status = case.worktree().and_then(|w| w.status.known());
    paths(
        status.map(|s| &s.untracked),
        Code::Untracked,
        ["untracked path", "untracked paths"],
        "commit, move or delete them",
    )
}

pub(super) fn hidden_edits(case: &Case<'_>) -> Vec<Hold> {
    let fact = case.worktree().and_then(|w| w.hidden_edits.known());
    let remedy = "'git update-index --no-assume-unchanged --no-skip-worktree', or check the file's filter";
    paths(fact, Code::HiddenEdits, ["edit that status does not show", "edits that status does not show"], remedy)
}

pub(super) fn ignored(case: &Case<'_>) -> Vec<Hold> {
    let Some(worktree) = case.worktree() else { return Vec::new() };
    let facts = [&worktree.ignored, &worktree.ignored_deep];
    let all: Vec<BString> = facts.into_iter().filter_map(Fact::known).flatten().cloned().collect();
    let remedy = "move them away, or list what can be rebuilt as 'ignored.disposable' in .shadowrc";
    paths(Some(&all), Code::Ignored, ["ignored path", "ignored paths"], remedy)
}

pub(super) fn undeletable(case: &Case<'_>) -> Vec<Hold> {
    let Some(found) = case.worktree().and_then(|w| w.undeletable.known()) else { return Vec::new() };
    let first = |n: usize| found[..n].iter().all(|other| other.path != found[n].path);
    let shown = found.iter().enumerate().filter(|(n, _)| first(*n)).map(|(_, one)| format!("{} {}", one.path, one.why));
    let shown: Vec<String> = shown.collect();
    let remedy = "have their owner delete them";
    paths(Some(&shown), Code::Undeletable, ["path cannot be deleted", "paths cannot be deleted"], remedy)
}

pub(super) fn nested_repo(case: &Case<'_>) -> Vec<Hold> {
    let fact = case.worktree().and_then(|w| w.nested_repositories.known());
    paths(fact, Code::NestedRepo, ["repository inside", "repositories inside"], "move it out")
}

pub(super) fn nested_worktree(case: &Case<'_>) -> Vec<Hold> {
    let fact = case.worktree().and_then(|w| w.nested_worktrees.known());
    let shown: Option<Vec<String>> = fact.map(|f| f.iter().map(|p| p.display().to_string()).collect());
    paths(shown.as_ref(), Code::NestedWorktree, ["worktree inside", "worktrees inside"], "release that one first")
}

pub(super) fn submodule(case: &Case<'_>) -> Vec<Hold> {
    let found = case.worktree().and_then(|w| w.submodules.known()).map(Vec::as_slice).unwrap_or_default();
    let to_hold = |text: &String| hold(Code::Submodule, On::Both, text.clone(), "commit and push inside the submodule");
    found.iter().map(to_hold).collect()
}

pub(super) fn worktree_refs(case: &Case<'_>) -> Vec<Hold> {
    match case.worktree().and_then(|w| w.private_refs.known()) {
        Some(refs) if !refs.is_empty() => {
            let message = named("private ref", "private refs", refs);
            vec![hold(Code::WorktreeRefs, On::Both, message, "give what they reach a branch, or delete them")]
        }
        Some(_) | None => Vec::new(),
    }
}

pub(super) fn staged(case: &Case<'_>) -> Vec<Hold> {
    match case.worktree().and_then(|w| w.staged.known()) {
        Some(paths) if !paths.is_empty() => {
            let message = named("staged path is only in its index", "staged paths are only in its index", paths);
            // Its index is all that is left: 'git worktree repair' cannot help, for there is no directory.
            vec![hold(Code::Staged, On::Both, message, Code::Staged.helps())]
        }
        Some(_) | None => Vec::new(),
    }
}

pub(super) fn missing(case: &Case<'_>) -> Vec<Hold> {
    match case.worktree().and_then(|w| w.place.known()) {
        Some(Place::Missing { why, remedy }) => vec![hold(Code::Missing, On::Both, why.clone(), remedy)],
        Some(Place::Present | Place::Purged(_) | Place::NotOurs(_)) | None => Vec::new(),
    }
}

pub(super) fn identity(case: &Case<'_>) -> Vec<Hold> {
    match case.worktree().and_then(|w| w.place.known()) {
        Some(Place::NotOurs(why)) => {
            vec![hold(Code::Identity, On::Both, why.clone(), "'git worktree repair', or move away what is there")]
        }
        Some(Place::Present | Place::Purged(_) | Place::Missing { .. }) | None => Vec::new(),
    }
}
