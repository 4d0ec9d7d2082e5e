//! May it go? A table of rules, one row a hold: facts in, verdict out. Pure.

use gix::ObjectId;
use gix::bstr::BString;

use crate::model::{Base, Because, Evidence, Half, Hold, Lock, Registration, RepositoryFacts, Timestamp, Verdict};
use crate::policy::Policy;

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
    pub rests_on: (BString, ObjectId),
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
    /// A hook: no partial release, no purged registration.
    pub hook: bool,
}

/// Judge all shadows of a repository together.
pub fn judge(
    _shadows: Vec<Evidence>,
    _repository: &RepositoryFacts,
    _bases: &[Base],
    _policy: &Policy,
    _terms: Terms,
    _now: Timestamp,
) -> Vec<Judgement> {
    Vec::new()
}
