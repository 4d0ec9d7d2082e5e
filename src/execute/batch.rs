//! Branches without a worktree: one intent, one transaction, one rewrite of the configuration; one by one when the
//! transaction is refused.

use gix::bstr::BString;

use super::branch::{self, Refusal};
use super::failpoint::failpoint;
use super::finish::{Finished, finish, mark_released};
use super::reverse::put_back;
use super::{Executor, Stop, pins, prepare};
use crate::error::{Error, Result};
use crate::git::Repository;
use crate::journal::{BranchIntent, Item};
use crate::judge::Release;
use crate::model::{Outcome, StepKind, StepReport, bytes};

impl Executor<'_> {
    /// How each of them ended, in their order.
    pub(super) fn batch(&mut self, releases: &[(BString, Release)]) -> Vec<Result<StepReport, Stop>> {
        let step = StepKind::DeleteBranch;
        let for_all = |error: Error| vec![Err(Stop::failed(step, error)); releases.len()];
        let number = self.number();
        let added = prepare::batch(self.repo, &self.id, number, releases).and_then(|intent| self.add(number, intent));
        let mut item = match added {
            Ok(item) => item,
            Err(error) => return for_all(error),
        };
        failpoint("journal");
        if let Err(error) = pins::create(self.repo, &item.intent.pins) {
            let _ = put_back(self.repo, &mut item, &error.message);
            return for_all(error);
        }
        failpoint("pins");
        let refusals = delete(self.repo, &item);
        failpoint("branch");
        let went = item.intent.branches.iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none());
        let went: Vec<String> = went.map(|(branch, _)| bytes::encode(&branch.name)).collect();
        let finished = self.settle_batch(&mut item, went);
        let report = |refusal: Option<Refusal>| match refusal {
            None => Ok(match &finished {
                Finished::Done => StepReport { step, outcome: Outcome::Done, detail: None },
                Finished::Left(what) => StepReport { step, outcome: Outcome::Done, detail: Some(what.clone()) },
                Finished::Pending(why) => StepReport { step, outcome: Outcome::Pending, detail: Some(why.clone()) },
            }),
            Some(Refusal::Raced(why)) => Err(Stop::raced(step, why)),
            Some(Refusal::Failed(why)) => Err(Stop::failed(step, Error::failed("git", why))),
        };
        refusals.into_iter().map(report).collect()
    }

    fn settle_batch(&mut self, item: &mut Item, went: Vec<String>) -> Finished {
        if went.is_empty() {
            // What stays open here is put back by the next run.
            let _ = put_back(self.repo, item, "nothing was deleted");
            return Finished::Done;
        }
        self.released = true;
        if let Err(error) = mark_released(item, went) {
            return Finished::Pending(format!("left for the next run: {}", error.message));
        }
        failpoint("released");
        finish(self.repo, item)
    }
}

/// Why each of them was refused; `None`: it went.
fn delete(repo: &Repository, item: &Item) -> Vec<Option<Refusal>> {
    let branches: Vec<&BranchIntent> = item.intent.branches.iter().collect();
    match branch::delete(repo, &item.intent, &branches) {
        Ok(()) => vec![None; branches.len()],
        Err(refusal) if branches.len() == 1 => vec![Some(refusal)],
        Err(_) => branches.into_iter().map(|one| branch::delete(repo, &item.intent, &[one]).err()).collect(),
    }
}
