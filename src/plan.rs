//! What will happen: the order of a run, made of what the judge lets go. Pure.
//!
//! Dry run and real run are made from the same plan; only the last step differs.

use gix::bstr::BString;

use crate::judge::{Judgement, Release};
use crate::model::{Outcome, StepKind, StepReport};

/// One shadow that goes, or a part of it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Which of the judgements it was made from.
    pub index: usize,
    /// The shadow's name.
    pub name: BString,
    /// What may go, sealed by the judge.
    pub release: Release,
}

/// All that goes in one repository, in the order in which it goes.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Shadows with a worktree or a registration, one after the other.
    pub shadows: Vec<Planned>,
    /// Branches without: one batch, last, because a registration that goes first may be what names one of them.
    pub branches: Vec<Planned>,
}

impl Plan {
    /// The plan for these judgements.
    ///
    /// When several worktrees have the same branch, the one that takes it along must be the last of them: so all
    /// that take a branch along follow those that do not.
    pub fn new(judgements: &[Judgement]) -> Plan {
        let mut plan = Plan::default();
        for (index, judgement) in judgements.iter().enumerate() {
            let Some(release) = judgement.release.clone() else { continue };
            let planned = Planned { index, name: judgement.evidence.shadow.name.clone(), release };
            match planned.release.worktree() {
                Some(_) => plan.shadows.push(planned),
                None => plan.branches.push(planned),
            }
        }
        plan.shadows.sort_by_key(|planned| planned.release.branch().is_some());
        plan
    }

    /// Nothing goes.
    pub fn is_empty(&self) -> bool {
        self.shadows.is_empty() && self.branches.is_empty()
    }

    /// Everything that goes, in order.
    pub fn all(&self) -> impl Iterator<Item = &Planned> {
        self.shadows.iter().chain(&self.branches)
    }
}

impl Planned {
    /// The steps that releasing it takes, in order.
    pub fn steps(&self) -> Vec<StepKind> {
        steps(&self.release)
    }

    /// The first of them; what stops a release before anything moved is told of this one.
    pub fn first_step(&self) -> StepKind {
        self.steps().first().copied().unwrap_or(StepKind::DeleteBranch)
    }

    /// The steps as a dry run tells them.
    pub fn would(&self) -> Vec<StepReport> {
        self.steps().into_iter().map(|step| StepReport { step, outcome: Outcome::Would, detail: None }).collect()
    }
}

/// How what may go by now differs from what was agreed to. `None`: it is the same registration, place, HEAD and files, the
/// same branch at the same tip.
pub fn difference(agreed: &Release, fresh: &Release) -> Option<String> {
    match (agreed.worktree(), fresh.worktree()) {
        (None, None) => {}
        (Some(old), Some(new)) => {
            let (was, is) = (&old.registration, &new.registration);
            if was.id != is.id || was.path != is.path {
                return Some("the registration is another one now".into());
            }
            if was.head != is.head || was.names != is.names {
                return Some("HEAD moved".into());
            }
            if old.present != new.present || old.root != new.root {
                return Some("the directory is another one now".into());
            }
            if old.passes_lock != new.passes_lock {
                return Some("the lock changed".into());
            }
        }
        (Some(_), None) => return Some("the worktree is held now".into()),
        (None, Some(_)) => return Some("the branch has a worktree now".into()),
    }
    match (agreed.branch(), fresh.branch()) {
        (None, None) => None,
        (None, Some(_)) => Some("the branch may go too now".into()),
        (Some(_), None) => Some("the branch is held now".into()),
        (Some(old), Some(new)) if old.name != new.name => Some("the branch is another one now".into()),
        (Some(old), Some(new)) if old.tip != new.tip => {
            let (from, to) = (old.tip.to_hex_with_len(7), new.tip.to_hex_with_len(7));
            Some(format!("branch moved {from}..{to}"))
        }
        (Some(_), Some(_)) => None,
    }
}

fn steps(release: &Release) -> Vec<StepKind> {
    let mut steps = Vec::new();
    let present = release.worktree().is_some_and(|worktree| worktree.present);
    if present {
        steps.push(StepKind::MoveWorktree);
    }
    if release.worktree().is_some() {
        steps.push(StepKind::DropRegistration);
    }
    if release.branch().is_some() {
        steps.push(StepKind::DeleteBranch);
    }
    if present {
        steps.push(StepKind::DeleteFiles);
    }
    steps
}
