//! One shadow with a worktree or a registration, steps 2 to 8.

use std::path::Path;

use super::branch::{self, Refusal};
use super::failpoint::failpoint;
use super::finish::{Finished, all_branches, finish, mark_released};
use super::marker::Marker;
use super::prepare;
use super::reverse::{self, Reversal, put_back};
use super::{Executor, Stop, exclude, gate, pins, registration};
use crate::error::{Error, Result};
use crate::git::{Repository, read_ref};
use crate::journal::{Item, WorktreeIntent};
use crate::judge::{Release, ReleaseWorktree};
use crate::model::{Fact, Outcome, StepKind, StepReport, Use};
use crate::plan::Planned;
use crate::sys::file;
use crate::sys::process::Processes;
use crate::sys::tree::{self, Snapshot, rename_no_replace};

impl Executor<'_> {
    /// Release it, or say why not; nothing of it is lost either way.
    pub(super) fn shadow(
        &mut self,
        planned: &Planned,
        release: &Release,
        worktree: &ReleaseWorktree,
    ) -> Result<Vec<StepReport>, Stop> {
        let repo = self.repo;
        let first = planned.first_step();
        failpoint("again");
        let snapshot = gate::look(repo, self.witness, planned, worktree)?;
        failpoint("gate");
        let failed = |error| Stop::failed(first, error);
        let number = self.number();
        let (intent, contents) =
            prepare::shadow(repo, &self.id, number, &planned.name, release, worktree).map_err(failed)?;
        let mut item = self.add(number, intent).map_err(failed)?;
        failpoint("journal");
        let moved = (|| {
            prepare::save(&item, &contents, snapshot.as_ref()).map_err(failed)?;
            failpoint("saved");
            pins::create(repo, &item.intent.pins).map_err(failed)?;
            failpoint("pins");
            carry_out(repo, &mut item, snapshot.as_ref(), first)
        })();
        match moved {
            Ok(()) => Ok(self.finished(planned, &mut item)),
            Err(stop) => Err(reversed(repo, &mut item, stop)),
        }
    }

    fn finished(&mut self, planned: &Planned, item: &mut Item) -> Vec<StepReport> {
        self.released = true;
        let report = |step, outcome, detail| StepReport { step, outcome, detail };
        let mut steps: Vec<_> = planned.steps().into_iter().map(|step| report(step, Outcome::Done, None)).collect();
        let (outcome, detail) = match finish(self.repo, item) {
            Finished::Done => return steps,
            Finished::Left(what) => (Outcome::Done, what),
            Finished::Pending(why) => (Outcome::Pending, why),
        };
        if let Some(last) = steps.last_mut() {
            *last = report(last.step, outcome, Some(detail));
        }
        steps
    }
}

/// Steps 5 to 7: an error is a release that did not happen, to be reversed; from `Ok` on it is only finished.
fn carry_out(repo: &Repository, item: &mut Item, snapshot: Option<&Snapshot>, first: StepKind) -> Result<(), Stop> {
    let failed = |step| move |error| Stop::failed(step, error);
    let Some(worktree) = item.intent.worktree.clone() else { return Ok(()) };
    let git_dir = worktree.git_dir(repo.common_dir());

    let passes = worktree.lock.as_ref().map(AsRef::as_ref);
    let marker = Marker::write(&git_dir, &item.operation, passes).map_err(failed(first))?;
    failpoint("marker");
    if let (Some(snapshot), Some(path), Some(hidden)) = (snapshot, worktree.path(), worktree.hidden()) {
        move_tree(&worktree, snapshot, &path, &hidden)?;
    } else if let Some(path) = worktree.path() {
        still_purged(&path)?;
    }
    failpoint("checked");

    move_registration(repo, item, &worktree, &marker, &git_dir)?;
    failpoint("registration");

    if !item.intent.branches.is_empty() {
        let branches: Vec<_> = item.intent.branches.iter().collect();
        branch::delete(repo, &item.intent, &branches).map_err(|refusal| match refusal {
            Refusal::Raced(why) => Stop::raced(StepKind::DeleteBranch, why),
            Refusal::Failed(why) => Stop::failed(StepKind::DeleteBranch, Error::failed("git", why)),
        })?;
        failpoint("branch");
    }
    let marked = mark_released(item, all_branches(item));
    if item.intent.branches.is_empty() {
        marked.map_err(failed(StepKind::DropRegistration))?;
    }
    // With a branch the transaction was the commit point; the next run writes a mark that is missing.
    failpoint("released");
    Ok(())
}

/// Step 5: out of everyone's way, then looked at once more.
fn move_tree(worktree: &WorktreeIntent, snapshot: &Snapshot, path: &Path, hidden: &Path) -> Result<(), Stop> {
    let step = StepKind::MoveWorktree;
    let failed = |error| Stop::failed(step, error);
    if let Some(line) = &worktree.exclude {
        exclude::add(line).map_err(failed)?;
    }
    rename_no_replace(path, hidden).map_err(failed)?;
    hidden.parent().map_or(Ok(()), file::fsync_dir).map_err(failed)?;
    failpoint("renamed");
    let changed = tree::differences(hidden, snapshot).map_err(failed)?;
    if !changed.is_empty() {
        return Err(Stop::raced(step, format!("changed meanwhile: {}", gate::listed(&changed))));
    }
    match Processes::snapshot() {
        Fact::Known(processes) => {
            let inside = processes.inside(&[hidden.to_owned()]);
            if let Some(user) = inside.iter().flatten().next() {
                return Err(Stop::raced(step, format!("in use meanwhile: {}", described(user))));
            }
            Ok(())
        }
        Fact::Unknown(why) => Err(Stop::failed(step, Error::failed("processes", why))),
        Fact::NotApplicable | Fact::NotAsked => Err(Stop::failed(step, Error::failed("processes", "not asked"))),
    }
}

fn described(user: &Use) -> String {
    match user {
        Use::Process { pid, name, what, .. } => format!("process {pid} ({name}) has its {what} inside"),
        Use::Mount(path) => format!("'{}' is mounted", path.display()),
    }
}

/// A purged worktree must not have come back to life before our marker kept others out.
fn still_purged(path: &Path) -> Result<(), Stop> {
    let step = StepKind::DropRegistration;
    let there = tree::stat(path).map_err(|error| Stop::failed(step, error))?;
    if there.is_none() {
        return Ok(());
    }
    let found = tree::walk(path, |_, _| true).map_err(|error| Stop::failed(step, error))?;
    match found.entries.iter().find(|(_, stat)| !stat.is_dir()) {
        Some((entry, _)) => Err(Stop::raced(step, format!("there are files again: {entry}"))),
        None => Ok(()),
    }
}

/// Step 6: into the operation's folder, if it still is ours and nothing in it changed.
fn move_registration(
    repo: &Repository,
    item: &mut Item,
    worktree: &WorktreeIntent,
    marker: &Marker,
    git_dir: &Path,
) -> Result<(), Stop> {
    let step = StepKind::DropRegistration;
    let failed = |error| Stop::failed(step, error);
    if !marker.is_there().map_err(failed)? {
        return Err(Stop::raced(step, "our lock on the registration was taken away"));
    }
    if let Some(path) = registration::difference(&item.saved(), git_dir).map_err(failed)? {
        return Err(Stop::raced(step, format!("the registration changed meanwhile: {path}")));
    }
    rename_no_replace(git_dir, &item.moved()).map_err(failed)?;
    file::fsync_dir(&item.dir).map_err(failed)?;
    git_dir.parent().map_or(Ok(()), file::fsync_dir).map_err(failed)?;
    failpoint("unlinked");
    if let Some(path) = registration::difference(&item.saved(), &item.moved()).map_err(failed)? {
        reverse::pin_what_is_new(repo, item, worktree, &item.moved()).map_err(failed)?;
        return Err(Stop::raced(step, format!("the registration changed meanwhile: {path}")));
    }
    Ok(())
}

/// Put back what was moved, and tell of the reason; if that cannot be done, tell of that as well.
fn reversed(repo: &Repository, item: &mut Item, stop: Stop) -> Stop {
    // A transaction that went through and whose answer was lost must not be reversed: the next run finishes it.
    let branches = item.intent.branches.iter();
    let gone = branches.map(|branch| read_ref(repo, branch.name.as_ref())).any(|now| matches!(now, Ok(None)));
    if gone && tree::stat(&item.moved()).is_ok_and(|moved| moved.is_some()) {
        return Stop { outcome: Outcome::Pending, ..stop };
    }
    match put_back(repo, item, &stop.why) {
        Ok(Reversal::Back) => stop,
        Ok(Reversal::Stuck(why)) => Stop::raced(stop.step, format!("{}; {why}", stop.why)),
        Err(error) => {
            // It stays open, and the next run tries again.
            let why = format!("{}; it could not be put back yet: {error}", stop.why);
            Stop { outcome: Outcome::Failed, why, ..stop }
        }
    }
}
