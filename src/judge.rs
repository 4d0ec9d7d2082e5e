//! May it go? A table of rules, one row a hold: facts in, verdict out. Pure.
//!
//! Unknown is a hold. All rules whose facts are known run, and all holds are reported in the order of the table. Any
//! hold on a worktree holds its branch too, without a code of its own there; a branch goes only when no registration
//! that stays names it.

#![warn(clippy::wildcard_enum_match_arm)]

mod age;
mod rules;
mod session_root;
mod standing;
#[cfg(test)]
mod tests;
mod unverified;

use std::collections::HashSet;

use gix::ObjectId;
use gix::bstr::BString;

use crate::model::{
    Because, Code, Evidence, Fact, Half, Hold, Lock, On, Pending, PendingWork, Place, RefAt, Registration,
    RepositoryFacts, Timestamp, Verdict,
};
use crate::policy::Policy;
use rules::{Case, RULES};
pub use session_root::judge_session_root;
use standing::{Standing, standing};

/// A worktree that may go, with the facts it was judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseWorktree {
    /// The registration as it was judged.
    pub registration: Registration,
    /// Files are there (else it is purged and only the registration goes).
    pub present: bool,
    /// Device and inode of the root, when present.
    pub root: Option<(u64, u64)>,
    /// A stale lock, or our undo mark, that this release passes.
    pub passes_lock: Option<Lock>,
}

/// A branch that may go, with the facts it was judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseBranch {
    /// The full name.
    pub name: BString,
    /// The tip it was judged at.
    pub tip: ObjectId,
    /// The base (resolved) or remote-tracking ref that the proof rests on, and its value.
    pub rests_on: RefAt,
}

/// What may go. Only [`judge`] makes one; `plan` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    worktree: Option<ReleaseWorktree>,
    branch: Option<ReleaseBranch>,
    because: Because,
}

impl Release {
    /// The worktree that goes.
    pub fn worktree(&self) -> Option<&ReleaseWorktree> {
        self.worktree.as_ref()
    }

    /// The branch that goes.
    pub fn branch(&self) -> Option<&ReleaseBranch> {
        self.branch.as_ref()
    }

    /// Why.
    pub fn because(&self) -> Because {
        self.because
    }
}

/// A shadow with its verdict.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// What it was judged by.
    pub evidence: Evidence,
    /// Every reason to keep it, in the order of the table.
    pub holds: Vec<Hold>,
    /// What becomes of the worktree, where there is one.
    pub worktree: Option<Half>,
    /// What becomes of the branch, where there is one that is ours.
    pub branch: Option<Half>,
    /// What becomes of it as a whole.
    pub verdict: Verdict,
    /// Why it goes.
    pub because: Option<Because>,
    /// When the last grace ends, if only graces hold it.
    pub eligible_at: Option<Timestamp>,
    /// The token for `plan`, when something goes.
    pub release: Option<Release>,
}

/// What the judge is told beside the evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// `release <shadow>`: graces are waived, a stale lock and our undo mark are passed.
    pub named: bool,
    /// A hook: only what landed, as a whole; no purged registration.
    pub hook: bool,
}

/// Judge all shadows of a repository together: whether a branch is free depends on the other worktrees.
pub fn judge(
    shadows: Vec<Evidence>,
    repository: &RepositoryFacts,
    policy: &Policy,
    terms: Terms,
    now: Timestamp,
) -> Vec<Judgement> {
    let bases = repository.bases.known().map(Vec::as_slice).unwrap_or_default();
    let first: Vec<(Vec<Hold>, Option<Standing>)> = shadows
        .iter()
        .map(|evidence| {
            if evidence.shadow.foreign || evidence.pending.is_some() || is_unasked(evidence) {
                return (Vec::new(), None);
            }
            let case = Case { evidence, repository, policy, terms, now, standing: standing(evidence, bases) };
            (RULES.iter().flat_map(|rule| rule(&case)).collect(), Some(case.standing))
        })
        .collect();
    let staying = staying(&shadows, &first);
    shadows
        .into_iter()
        .zip(first)
        .map(|(evidence, (mut holds, standing))| {
            let Some(standing) = standing else { return unjudged(evidence) };
            holds.extend(rules::checked_out(&evidence, &staying));
            holds.extend(unproved(&evidence, &holds, &standing));
            holds.sort_by_key(|hold| hold.code);
            conclude(evidence, holds, &standing, policy, terms)
        })
        .collect()
}

fn is_unasked(evidence: &Evidence) -> bool {
    evidence.lease == Fact::NotAsked && evidence.worktree.is_none() && evidence.branch.is_none()
}

/// Begins the message of a hold that asking more would lift.
const NOT_ASKED: &str = "not asked yet";

impl Judgement {
    /// Only a fact that was not asked holds the worktree: look again, at everything.
    pub fn wants_more(&self) -> bool {
        self.holds.iter().any(|hold| hold.code == Code::Unverified && hold.message.starts_with(NOT_ASKED))
    }
}

/// The last guard: whatever the rules missed, a branch goes only with a proof, and a worktree with files only when its
/// commits are known to be elsewhere.
fn unproved(evidence: &Evidence, holds: &[Hold], standing: &Standing) -> Option<Hold> {
    let kept = |on: On| holds.iter().any(|hold| hold.on == On::Both || hold.on == on);
    let proved = matches!(standing, Standing::Landed(_) | Standing::Unused(_));
    let elsewhere = proved || matches!(standing, Standing::Pushed(_));
    let gone = matches!(evidence.worktree.as_ref().map(|w| &w.place), Some(Fact::Known(Place::Purged(_))));
    if let Some(facts) = &evidence.worktree
        && !kept(On::Worktree)
        && let Some(name) = unverified::not_asked(facts)
    {
        return Some(rules::hold(Code::Unverified, On::Both, format!("{NOT_ASKED}: {name}"), ""));
    }
    let worktree = evidence.worktree.is_some() && !kept(On::Worktree) && !elsewhere && !gone;
    let branch = evidence.branch.is_some() && !kept(On::Branch) && !kept(On::Worktree) && !proved;
    let on = if worktree { On::Both } else { On::Branch };
    (worktree || branch).then(|| rules::hold(Code::Unverified, on, "nothing proves where its commits are", ""))
}

/// The ids of the registrations that stay.
fn staying(shadows: &[Evidence], judged: &[(Vec<Hold>, Option<Standing>)]) -> HashSet<BString> {
    let mut staying = HashSet::new();
    for (evidence, (holds, standing)) in shadows.iter().zip(judged) {
        if let Some(registration) = &evidence.shadow.worktree
            && (standing.is_none() || holds.iter().any(|hold| hold.on != On::Branch))
        {
            staying.insert(registration.id.clone());
        }
    }
    staying
}

/// Foreign, not asked for, or in the hands of an operation that was interrupted: the next real run finishes that, or
/// puts it back and judges afresh.
fn unjudged(evidence: Evidence) -> Judgement {
    let mut holds = Vec::new();
    let verdict = match &evidence.pending {
        Some(Pending { work: PendingWork::Finish, .. }) => Verdict::Release,
        Some(pending @ Pending { work: PendingWork::Restore, under_way, .. }) => {
            let interrupted = "'git shadow prune-sessions --yes' puts it back and judges it again";
            let remedy = if *under_way { "wait for the other git shadow to end" } else { interrupted };
            holds.push(rules::hold(Code::Locked, On::Both, pending.told(), remedy));
            Verdict::Held
        }
        None if evidence.shadow.foreign => Verdict::Foreign,
        None => Verdict::Held,
    };
    Judgement {
        evidence,
        holds,
        worktree: None,
        branch: None,
        verdict,
        because: None,
        eligible_at: None,
        release: None,
    }
}

fn conclude(evidence: Evidence, holds: Vec<Hold>, standing: &Standing, policy: &Policy, terms: Terms) -> Judgement {
    let half = |there: bool, held: bool| there.then_some(if held { Half::Held } else { Half::Release });
    let worktree = half(evidence.worktree.is_some(), holds.iter().any(|hold| hold.on != On::Branch));
    let branch_held = worktree == Some(Half::Held) || holds.iter().any(|hold| hold.on != On::Worktree);
    let branch = half(evidence.branch.is_some(), branch_held);
    let verdict = match (worktree, branch) {
        (Some(Half::Held), _) | (None, Some(Half::Held) | None) => Verdict::Held,
        (Some(Half::Release), Some(Half::Held)) => Verdict::Partial,
        (Some(Half::Release), Some(Half::Release) | None) | (None, Some(Half::Release)) => Verdict::Release,
    };
    let purged = matches!(
        evidence.worktree.as_ref().map(|w| &w.place),
        Some(Fact::Known(Place::Purged(_) | Place::Missing { .. } | Place::NotOurs(_)))
    );
    let because = match verdict {
        Verdict::Held | Verdict::Foreign => None,
        Verdict::Partial | Verdict::Release => Some(match standing {
            Standing::Landed(_) if branch != Some(Half::Held) => Because::Landed,
            Standing::Unused(_) if branch != Some(Half::Held) => Because::Unused,
            _ if purged => Because::Purged,
            Standing::Landed(_)
            | Standing::Unused(_)
            | Standing::Pushed(_)
            | Standing::Unpushed(_)
            | Standing::Unknown => Because::KeptElsewhere,
        }),
    };
    let just_landed =
        verdict == Verdict::Release && because == Some(Because::Landed) && !(purged && worktree.is_some());
    let release = because.filter(|_| !terms.hook || just_landed).map(|because| Release {
        worktree: worktree.filter(|w| *w == Half::Release).and_then(|_| release_worktree(&evidence, purged)),
        branch: branch.filter(|b| *b == Half::Release).and_then(|_| release_branch(&evidence, standing)),
        because,
    });
    let only_grace = !holds.is_empty() && holds.iter().all(|hold| hold.code == Code::Grace);
    let eligible_at = only_grace.then(|| age::eligible_at(&evidence, standing, policy)).flatten();
    Judgement { evidence, holds, worktree, branch, verdict, because, eligible_at, release }
}

fn release_worktree(evidence: &Evidence, purged: bool) -> Option<ReleaseWorktree> {
    let facts = evidence.worktree.as_ref()?;
    Some(ReleaseWorktree {
        registration: evidence.shadow.worktree.clone()?,
        present: !purged,
        root: facts.root,
        passes_lock: facts.lock.known().cloned().flatten(),
    })
}

fn release_branch(evidence: &Evidence, standing: &Standing) -> Option<ReleaseBranch> {
    let branch = evidence.shadow.branch.as_ref()?;
    let rests_on = match standing {
        Standing::Landed(proof) => proof.base.clone(),
        Standing::Unused(at) => at.clone(),
        Standing::Pushed(_) | Standing::Unpushed(_) | Standing::Unknown => return None,
    };
    Some(ReleaseBranch { name: branch.name.clone(), tip: branch.tip?, rests_on })
}
