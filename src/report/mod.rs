//! What a run tells: one shape for list, dry run and real run.

pub mod census;
pub mod choice;
pub mod doctor;
pub mod explain;
pub mod fields;
pub mod hooks;
pub mod human;
pub mod json;
pub mod log;
mod overview;
pub mod porcelain;
mod run;
pub mod schedule;
mod summary;
mod table;
pub mod template;
mod words;

pub use census::Census;
pub use summary::Summary;

use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use crate::error::{Error, Exit};
use crate::judge::Judgement;
use crate::model::{Code, Disk, Hold, Outcome, PendingWork, RepositoryFacts, StepKind, StepReport, Timestamp, Verdict};

/// In which form a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Human,
    /// For scripts, a label a line.
    Porcelain {
        /// Lines end with NUL and nothing is quoted.
        nul: bool,
    },
    /// For programs.
    Json,
}

/// Which part of a report is printed.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Foreign ones too.
    pub all: bool,
    /// Only those of which something stays.
    pub held: bool,
    /// Only those of which something goes.
    pub releasable: bool,
    /// Only the census, in the form for people.
    pub summary: bool,
    /// How many there are, for a list that was asked for it.
    pub census: Option<Census>,
    /// Nothing is folded.
    pub verbose: bool,
    /// A question follows: how to go on need not be said.
    pub asks: bool,
    /// Until when the operation can be undone.
    pub undo_until: Option<Timestamp>,
}

impl View {
    /// Whether this shadow is shown.
    pub fn shows(&self, shadow: &ShadowReport) -> bool {
        let asked = |held, goes| !(self.held || self.releasable) || (self.held && held) || (self.releasable && goes);
        match shadow.judgement.verdict {
            Verdict::Release => asked(false, true),
            Verdict::Partial => asked(true, true),
            Verdict::Held => asked(true, false),
            Verdict::Foreign => self.all && asked(false, false),
        }
    }
}

/// A shadow, its judgement and what was done with it.
#[derive(Debug, Clone)]
pub struct ShadowReport {
    /// The judgement.
    pub judgement: Judgement,
    /// What would be, was or was not done.
    pub steps: Vec<StepReport>,
    /// What its worktree takes, where that was measured.
    pub disk: Option<Disk>,
}

impl ShadowReport {
    /// A judgement with nothing done; what an interrupted operation left is pending.
    pub fn judged(judgement: Judgement) -> Self {
        let steps = judgement.evidence.pending.iter().map(|pending| StepReport {
            step: match pending.work {
                PendingWork::Restore => StepKind::Restore,
                PendingWork::Finish => StepKind::Finish,
            },
            outcome: Outcome::Pending,
            detail: Some(pending.told()),
        });
        ShadowReport { steps: steps.collect(), judgement, disk: None }
    }

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

    /// The invoking shell is inside its worktree.
    pub fn is_current(&self) -> bool {
        let facts = self.judgement.evidence.worktree.as_ref();
        facts.is_some_and(|facts| facts.current.known() == Some(&true))
    }

    /// How long ago it last showed a sign of activity; one in the future is now.
    pub fn age(&self, now: Timestamp) -> Option<SignedDuration> {
        let newest = self.judgement.evidence.age.known()?.newest?;
        Some(now.duration_since(newest).max(SignedDuration::ZERO))
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

impl SessionRoot {
    /// It only waits for a session, or for worktrees of which the report tells already.
    pub fn waits(&self) -> bool {
        self.holds.iter().any(|hold| matches!(hold.code, Code::Live | Code::NestedWorktree | Code::Grace))
    }
}

impl Report {
    /// How many session roots go.
    pub fn folders(&self) -> usize {
        self.session_roots.iter().filter(|root| root.holds.is_empty()).count()
    }

    /// Nothing but an error about the place that was asked about.
    pub fn failed(command: &'static str, now: Timestamp, place: &Path, error: Error) -> Self {
        Report {
            command,
            dry_run: true,
            generated_at: now,
            repositories: vec![RepositoryReport::failed(place, error)],
            session_roots: Vec::new(),
            operation: None,
        }
    }

    /// The exit code it means: a repository that failed, or a step that failed or raced, is 2.
    pub fn exit(&self) -> Exit {
        let wrong = |repository: &RepositoryReport| {
            let bad = |shadow: &ShadowReport| matches!(shadow.outcome(), Some(Outcome::Failed | Outcome::Raced));
            !repository.errors.is_empty() || repository.shadows.iter().any(bad)
        };
        if self.repositories.iter().any(wrong) { Exit::Failed } else { Exit::Done }
    }
}

impl RepositoryReport {
    /// A repository, or the place where one was expected, of which nothing is known but an error.
    pub fn failed(place: &Path, error: Error) -> Self {
        RepositoryReport {
            path: place.to_owned(),
            common_dir: place.to_owned(),
            bare: false,
            facts: RepositoryFacts::default(),
            shadows: Vec::new(),
            errors: vec![error],
        }
    }
}
