//! What `doctor --fix` does: each repair is an item of an operation, journaled before it is done, and taken back by undo.
//!
//! A repair is one change that happens or does not: git writes HEAD, or the configuration is rewritten under its lock. So
//! a run that was killed left either the state before or the state after, and the next run tells which.

use super::failpoint::failpoint;
use super::{Run, config, head};
use crate::error::{Error, Result};
use crate::git::Repository;
use crate::journal::{ConfigChange, INTENT, Intent, Item, Journal, Mark, Marker, Operation, Repair};
use crate::model::{Outcome, StepReport};
use crate::sys::clock;

/// Who looks again whether a repair is still what is needed, just before it is done.
pub trait Guard {
    /// Why it must not be done; `None`: it may.
    ///
    /// # Errors
    /// When that cannot be told.
    fn why_not(&mut self, repair: &Repair) -> Result<Option<String>>;
}

/// A repair, with what the journal calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// What it is about: a branch, a remote, a registration.
    pub name: gix::bstr::BString,
    /// The code of what was found.
    pub because: &'static str,
    /// What is done.
    pub repair: Repair,
}

/// How the repairs went, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Repaired {
    /// In their order.
    pub steps: Vec<StepReport>,
    /// Why the mark that nothing is open could not be written.
    pub unsettled: Option<Error>,
}

/// Carry out repairs. The repository's lock must be held, and killed runs recovered.
pub fn carry_out(repo: &Repository, wanted: &[Wanted], guard: &mut dyn Guard, run: Run<'_>) -> Repaired {
    let journal = Journal::of(repo);
    failpoint("judged");
    let mut operation = None;
    let mut repaired = Repaired::default();
    for (number, one) in wanted.iter().enumerate() {
        let done = begin(repo, &journal, &mut operation, (number, one), guard, run).and_then(|mut item| {
            failpoint("repair-journal");
            match apply(repo, &one.repair) {
                Ok(()) => finish(&mut item),
                Err(error) => {
                    item.mark(Marker::Reversed, Mark::new(clock::now(), Some(error.message.clone())))?;
                    Err(error)
                }
            }
        });
        let (outcome, detail) = match done {
            Ok(()) => (Outcome::Done, None),
            Err(error) if error.code == "raced" => (Outcome::Raced, Some(error.message)),
            Err(error) => (Outcome::Failed, Some(error.message)),
        };
        repaired.steps.push(StepReport { step: one.repair.step(), outcome, detail });
    }
    if operation.is_some() {
        repaired.unsettled = journal.settle(run.id).err();
    }
    repaired
}

/// Look again, then write down what is about to be done.
fn begin(
    repo: &Repository,
    journal: &Journal,
    operation: &mut Option<Operation>,
    (number, one): (usize, &Wanted),
    guard: &mut dyn Guard,
    run: Run<'_>,
) -> Result<Item> {
    if let Some(why) = guard.why_not(&one.repair)? {
        return Err(Error::failed("raced", why));
    }
    let operation = match operation {
        Some(operation) => operation,
        None => operation.insert(journal.begin(run.id, run.command, repo, run.started)?),
    };
    let intent = Intent {
        schema: INTENT.into(),
        name: one.name.clone(),
        because: one.because.into(),
        worktree: None,
        branches: Vec::new(),
        pins: Vec::new(),
        missing: Vec::new(),
        repair: Some(one.repair.clone()),
    };
    journal.add(operation, number, intent)
}

fn finish(item: &mut Item) -> Result<()> {
    failpoint("repair-applied");
    item.mark(Marker::Released, Mark::new(clock::now(), None))?;
    failpoint("repair-marked");
    item.mark(Marker::Done, Mark::new(clock::now(), None))
}

fn apply(repo: &Repository, repair: &Repair) -> Result<()> {
    match repair {
        Repair::DetachHead { id, branch, at } => head::detach(repo, id.as_ref(), branch.as_ref(), *at),
        Repair::SetUpstream { changes } | Repair::ExcludePins { changes } => config::change(repo, changes),
    }
}

/// Whether a repair that was begun has happened.
///
/// # Errors
/// When that cannot be told.
pub(super) fn has_happened(repo: &Repository, repair: &Repair) -> Result<bool> {
    match repair {
        Repair::DetachHead { id, at, .. } => head::is_at(repo, id.as_ref(), *at),
        Repair::SetUpstream { changes } | Repair::ExcludePins { changes } => {
            let inverse: Vec<ConfigChange> = changes.iter().map(ConfigChange::inverse).collect();
            config::can_change(repo, &inverse)
        }
    }
}

/// Take a repair back, where nothing has changed since.
///
/// # Errors
/// Why it stays.
pub(super) fn take_back(repo: &Repository, repair: &Repair) -> Result<String> {
    match repair {
        Repair::DetachHead { id, branch, at } => {
            head::attach(repo, id.as_ref(), branch.as_ref(), *at)?;
            Ok(format!("HEAD of worktree '{id}' on branch '{}'", crate::model::short_name(branch.as_ref())))
        }
        Repair::SetUpstream { changes } | Repair::ExcludePins { changes } => {
            let inverse: Vec<ConfigChange> = changes.iter().map(ConfigChange::inverse).collect();
            config::change(repo, &inverse)?;
            let names: Vec<String> =
                changes.iter().map(|c| format!("{}.{}.{}", c.section, c.subsection, c.key)).collect();
            Ok(format!("configuration of '{}'", names.join("' and '")))
        }
    }
}
