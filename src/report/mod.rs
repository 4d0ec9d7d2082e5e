//! What a run tells: one shape for list, dry run and real run.

use std::path::PathBuf;

use crate::error::Error;
use crate::judge::Judgement;
use crate::model::{Hold, Outcome, RepositoryFacts, StepReport, Timestamp};

/// A shadow, its judgement and what was done with it.
#[derive(Debug, Clone)]
pub struct ShadowReport {
    /// The judgement.
    pub judgement: Judgement,
    /// What would be, was or was not done.
    pub steps: Vec<StepReport>,
}

impl ShadowReport {
    /// The worst outcome of its steps: failed, raced, pending, done, would.
    pub fn outcome(&self) -> Option<Outcome> {
        let rank = |o: &Outcome| match o {
            Outcome::Would => 0,
            Outcome::Done => 1,
            Outcome::Pending => 2,
            Outcome::Raced => 3,
            Outcome::Failed => 4,
        };
        self.steps.iter().map(|s| s.outcome).max_by_key(rank)
    }
}

/// A repository with its shadows.
#[derive(Debug, Clone)]
pub struct RepositoryReport {
    /// The main worktree, else the repository.
    pub path: PathBuf,
    /// The common directory.
    pub common_dir: PathBuf,
    /// Whether it has no main worktree.
    pub bare: bool,
    /// Bases and the like.
    pub facts: RepositoryFacts,
    /// All shadows, foreign ones too; the output selects.
    pub shadows: Vec<ShadowReport>,
    /// What went wrong with the repository as a whole.
    pub errors: Vec<Error>,
}

/// The folder around a lease's worktrees.
#[derive(Debug, Clone)]
pub struct SessionRoot {
    /// The folder.
    pub path: PathBuf,
    /// What keeps it; empty: it goes.
    pub holds: Vec<Hold>,
}

/// All of a run.
#[derive(Debug, Clone)]
pub struct Report {
    /// The command: `list`, `prune-sessions`, …
    pub command: &'static str,
    /// Nothing was changed.
    pub dry_run: bool,
    /// When.
    pub generated_at: Timestamp,
    /// Every repository, in the order of their paths.
    pub repositories: Vec<RepositoryReport>,
    /// Session roots.
    pub session_roots: Vec<SessionRoot>,
    /// The operation that can be undone, when something was changed.
    pub operation: Option<String>,
}
