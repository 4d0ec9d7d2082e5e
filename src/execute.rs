//! Release, so that it can be taken back. This is the specification of what may touch work.
//!
//! Under the repository's lock, for each shadow with a worktree or a registration:
//!
//! 1. **Judge again** (`gate`). The facts must still be those that the plan was made from.
//! 2. **The gate** (`gate`). The tree is read, git itself says whether it is clean, the tree is read again.
//! 3. **Journal** (`prepare`). All that is needed to finish, reverse or take back is written to the operation's folder.
//! 4. **Pin** (`pins`, `registration`). Refs under `refs/shadow/kept/<operation>/` keep the tip, HEAD, every object that
//!    the registration names and what only the dying reflogs reach. The registration is copied. All is on the disk.
//! 5. **Mark and move** (`marker`, `shadow`). Our `locked` file keeps git away from the registration. The worktree is
//!    renamed to a sibling, replacing nothing, and looked at again: the same stat everywhere, nothing new, nobody inside.
//! 6. **The registration** (`shadow`) moves into the operation's folder, if our marker is still the very file we wrote,
//!    and must then be what was saved.
//! 7. **The branch** (`branch`): one transaction that expects its tip and verifies the pins and the ref that the proof
//!    rests on. With a branch, this is the commit point; without, the `released` mark is.
//! 8. **Delete** (`finish`) only what was proved and has not changed since. Anything else stays and is told.
//!
//! Until the commit point everything is reversed when something is not as expected (`reverse`); from there on it is only
//! finished. A run that is killed anywhere leaves its intent, and the next run finishes or reverses (`recover`). At no
//! moment is anything unreachable. Branches without a worktree go in one batch (`batch`).
//!
//! Nothing here judges: a [`Witness`] that the command lends does.

mod batch;
mod branch;
mod config;
mod exclude;
pub mod expire;
pub mod failpoint;
mod finish;
mod gate;
mod head;
mod marker;
mod pins;
mod prepare;
mod reach;
mod recover;
mod registration;
pub mod repair;
mod restore;
mod reverse;
pub mod session_root;
mod shadow;
pub mod sweep;
pub mod undo;

use gix::bstr::BString;

pub use recover::{Recovered, recover};

use crate::error::{Error, Result};
use crate::git::Repository;
use crate::journal::{Intent, Item, Journal, Operation, Undone};
use crate::judge::Judgement;
use crate::model::{Outcome, Registration, StepKind, StepReport, Timestamp};
use crate::plan::{Plan, Planned};
use crate::sys::tree::Snapshot;
use failpoint::failpoint;

/// Who looks at shadows for the executor, which has no policy to judge with.
pub trait Witness {
    /// Judge the shadows of these names again, on facts of this moment.
    ///
    /// # Errors
    /// When the repository as a whole cannot be read.
    fn judge_again(&mut self, names: &[BString]) -> Result<Vec<Judgement>>;

    /// Every entry of a present worktree, with why it may go.
    ///
    /// # Errors
    /// Names the first entry that nothing proves.
    fn snapshot(&mut self, registration: &Registration) -> Result<Snapshot>;
}

/// Why a release did not happen. Whatever had been moved is back, or waits with the operation and is told.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    step: StepKind,
    outcome: Outcome,
    why: String,
}

impl Stop {
    fn raced(step: StepKind, why: impl Into<String>) -> Stop {
        Stop { step, outcome: Outcome::Raced, why: why.into() }
    }

    fn failed(step: StepKind, error: Error) -> Stop {
        let outcome = if error.code == "raced" { Outcome::Raced } else { Outcome::Failed };
        Stop { step, outcome, why: error.message }
    }

    fn done(step: StepKind, why: impl Into<String>) -> Stop {
        Stop { step, outcome: Outcome::Done, why: why.into() }
    }

    fn report(self) -> StepReport {
        StepReport { step: self.step, outcome: self.outcome, detail: Some(self.why) }
    }
}

/// What a run is.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The operation's id, the same in all repositories of a run.
    pub id: &'a str,
    /// The command.
    pub command: &'a str,
    /// When it began.
    pub started: Timestamp,
}

/// How a plan was carried out.
#[derive(Debug, Clone, Default)]
pub struct Executed {
    /// The steps of each shadow, by the judgement that it was planned from.
    pub steps: Vec<(usize, Vec<StepReport>)>,
    /// Something was released, so that there is something to undo.
    pub released: bool,
    /// Why the mark that nothing is open could not be written; then readers look for themselves.
    pub unsettled: Option<Error>,
}

struct Executor<'a> {
    repo: &'a Repository,
    witness: &'a mut dyn Witness,
    journal: Journal,
    id: String,
    command: &'a str,
    started: Timestamp,
    operation: Option<Operation>,
    next: usize,
    released: bool,
}

/// Carry out a plan. The repository's lock must be held, and killed runs recovered.
///
/// # Errors
/// `corrupt-journal` (128), before anything is changed. A shadow's failure is among its steps.
pub fn execute(repo: &Repository, plan: &Plan, witness: &mut dyn Witness, run: Run<'_>) -> Result<Executed> {
    let journal = Journal::of(repo);
    let earlier = journal.load()?;
    failpoint("judged");
    let Run { id, command, started } = run;
    let mut executor = Executor {
        repo,
        witness,
        journal,
        id: id.to_owned(),
        command,
        started,
        operation: None,
        next: 0,
        released: false,
    };
    let mut steps = Vec::new();
    for planned in &plan.shadows {
        steps.push((planned.index, executor.one(planned, &earlier)));
    }
    executor.branches(&plan.branches, &earlier, &mut steps);
    let settled = if executor.operation.is_some() { executor.journal.settle(id) } else { Ok(()) };
    Ok(Executed { steps, released: executor.released, unsettled: settled.err() })
}

impl Executor<'_> {
    fn one(&mut self, planned: &Planned, earlier: &[Operation]) -> Vec<StepReport> {
        let first = planned.first_step();
        let result = match self.witness.judge_again(std::slice::from_ref(&planned.name)) {
            Err(error) => Err(Stop::failed(first, error)),
            Ok(fresh) => gate::again(planned, &fresh, earlier),
        };
        let result = result.and_then(|release| match release.worktree() {
            Some(worktree) => self.shadow(planned, &release, worktree),
            None => Err(Stop::raced(first, "the worktree is held now")),
        });
        if result.is_ok() {
            self.forget_undone(planned);
        }
        result.unwrap_or_else(|stop| vec![stop.report()])
    }

    fn branches(&mut self, planned: &[Planned], earlier: &[Operation], steps: &mut Vec<(usize, Vec<StepReport>)>) {
        if planned.is_empty() {
            return;
        }
        let names: Vec<BString> = planned.iter().map(|planned| planned.name.clone()).collect();
        let fresh = self.witness.judge_again(&names);
        let mut going = Vec::new();
        let mut releases = Vec::new();
        for one in planned {
            let release = match &fresh {
                Err(error) => Err(Stop::failed(StepKind::DeleteBranch, error.clone())),
                Ok(fresh) => gate::again(one, fresh, earlier),
            };
            match release {
                Ok(release) => {
                    going.push(one);
                    releases.push((one.name.clone(), release));
                }
                Err(stop) => steps.push((one.index, vec![stop.report()])),
            }
        }
        if releases.is_empty() {
            return;
        }
        let results = self.batch(&releases);
        for (one, result) in going.into_iter().zip(results) {
            if result.is_ok() {
                self.forget_undone(one);
            }
            steps.push((one.index, vec![result.unwrap_or_else(Stop::report)]));
        }
    }

    /// The number of the next item; each is used once, also when its intent cannot be written.
    fn number(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// Journal an intent; the operation begins with the first one.
    fn add(&mut self, number: usize, intent: Intent) -> Result<Item> {
        let operation = match self.operation.take() {
            Some(operation) => operation,
            None => self.journal.begin(&self.id, self.command, self.repo, self.started)?,
        };
        self.journal.add(self.operation.insert(operation), number, intent)
    }

    /// A branch that undo had brought back is gone again. A mark that cannot be taken away names a tip, and so harms no
    /// other branch.
    fn forget_undone(&self, planned: &Planned) {
        let names = planned.release.branch().map(|branch| branch.name.as_ref());
        let _ = Undone::read(self.repo).and_then(|mut undone| undone.forget(self.repo, names));
    }
}
