//! What killed runs left: finished when it was past the commit point, put back when it was not.

use gix::bstr::BString;

use super::finish::{Finished, all_branches, finish, mark_released};
use super::repair;
use super::reverse::{Reversal, put_back};
use crate::error::Result;
use crate::git::{Repository, read_ref};
use crate::journal::{Item, Journal, Turns, is_past_the_point};
use crate::model::{Outcome, StepKind, StepReport, bytes};

/// What became of one item of a killed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The operation.
    pub operation: String,
    /// The shadow.
    pub name: BString,
    /// How it went.
    pub step: StepReport,
}

/// Finish or put back everything that is open. What is released already and only waits for its files to be deleted
/// (something in them could not be) is tried when it is its turn; everything else must be settled before a run begins.
/// The repository's lock must be held.
///
/// # Errors
/// `corrupt-journal` (128), before anything is changed.
pub fn recover(repo: &Repository, journal: &Journal) -> Result<Vec<Recovered>> {
    // All of it must be readable, also what is settled: a run must not begin beside a journal that it cannot trust.
    journal.load()?;
    let mut recovered = Vec::new();
    let operations = journal.unsettled()?;
    let open = operations.iter().flat_map(|operation| &operation.items);
    let (left, killed): (Vec<&Item>, Vec<&Item>) =
        open.filter(|item| !item.is_settled() && item.stuck.is_none()).partition(|item| item.released.is_some());
    for item in killed {
        recovered.push(recover_one(repo, item));
    }
    let name = |item: &Item| format!("{}/{}", item.operation, item.number);
    Turns::read(repo).each("trees", left.iter().map(|item| name(item)).collect(), |turn| {
        recovered.extend(left.iter().find(|item| name(item) == turn).map(|item| recover_one(repo, item)));
    })?;
    for operation in &operations {
        journal.settle(&operation.header.operation)?;
    }
    Ok(recovered)
}

fn recover_one(repo: &Repository, item: &Item) -> Recovered {
    let step = one(repo, &mut item.clone()).unwrap_or_else(|error| StepReport {
        step: StepKind::Restore,
        outcome: Outcome::Failed,
        detail: Some(error.message),
    });
    Recovered { operation: item.operation.clone(), name: item.intent.name.clone(), step }
}

fn one(repo: &Repository, item: &mut Item) -> Result<StepReport> {
    if let (Some(repair), None) = (&item.intent.repair, &item.released)
        && repair::has_happened(repo, repair)?
    {
        mark_released(item, Vec::new())?;
    } else if item.released.is_none() {
        if is_past_the_point(repo, item)? {
            mark_released(item, all_branches(item))?;
        } else if item.intent.worktree.is_none() {
            let gone = branches_that_went(repo, item)?;
            if !gone.is_empty() {
                mark_released(item, gone)?;
            }
        }
    }
    if item.released.is_some() {
        let (outcome, detail) = match finish(repo, item) {
            Finished::Done => (Outcome::Done, None),
            Finished::Left(what) => (Outcome::Done, Some(what)),
            Finished::Pending(why) => (Outcome::Pending, Some(why)),
        };
        return Ok(StepReport { step: StepKind::Finish, outcome, detail });
    }
    let (outcome, detail) = match put_back(repo, item, "the run was killed")? {
        Reversal::Back => (Outcome::Done, None),
        Reversal::Stuck(why) => (Outcome::Raced, Some(why)),
    };
    Ok(StepReport { step: StepKind::Restore, outcome, detail })
}

/// A batch that was deleted one by one and stopped in between.
fn branches_that_went(repo: &Repository, item: &Item) -> Result<Vec<String>> {
    let mut gone = Vec::new();
    for branch in &item.intent.branches {
        if read_ref(repo, branch.name.as_ref())?.is_none() {
            gone.push(bytes::encode(&branch.name));
        }
    }
    Ok(gone)
}
