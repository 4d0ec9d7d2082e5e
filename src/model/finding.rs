//! What `doctor` finds. The order of [`Trouble::ALL`] is the order in which findings are reported.

use std::path::PathBuf;

use gix::bstr::BString;

use super::words::words;
use super::{Outcome, StepKind};

words! {
    /// The stable code of a finding.
    #[derive(PartialOrd, Ord)]
    Trouble {
        Squatting "squatting" "a shadow's worktree has a base branch checked out, so that nothing else can",
        OnShadow "on-shadow" "the main worktree, or the one named after a base, is on a shadow's branch",
        Upstream "upstream" "a base's local branch follows something else than its own name",
        BaseUnresolved "base-unresolved" "no base can be told, so that nothing is ever released",
        StaleBase "stale-base" "a base was not fetched for a week",
        Mirror "mirror" "a fetch would overwrite or prune the refs that keep released work",
        MirrorPush "mirror-push" "a push would publish the refs that keep released work",
        CorruptJournal "corrupt-journal" "a file that the program keeps cannot be read",
        Interrupted "interrupted" "a run was killed in the middle",
        Stuck "stuck" "an interrupted release can neither be finished nor put back",
        UnownedPins "unowned-pins" "pins of an operation that is not in the journal",
        LeftoverTree "leftover-tree" "a worktree that a release moved aside still has files",
        LeftoverFile "leftover-file" "temporary files of a run that was killed",
        Prunable "prunable" "git would prune a registration that is not provably purged",
        Orphan "orphan" "a worktree's directory that no registration knows",
        StaleLock "stale-lock" "a worktree is locked by a process or an operation that is gone",
        CorruptLease "corrupt-lease" "a lease that cannot be read",
        Hooks "hooks" "a hook that is there and does nothing, or that failed",
        Crowded "crowded" "more registered worktrees than the sandboxes of agents bear",
    }
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its stable code.
    pub code: Trouble,
    /// What is wrong, as git writes messages: lower case, no full stop.
    pub message: String,
    /// What to type.
    pub remedy: Option<String>,
    /// The file or directory that it is about.
    pub path: Option<PathBuf>,
    /// The ref that it is about, its full name.
    pub name: Option<BString>,
    /// What `--fix` does about it; `None`: nothing.
    pub step: Option<StepKind>,
    /// What became of that; `None`: it was not tried.
    pub outcome: Option<Outcome>,
    /// Why it is not fixed, or what else there is to say.
    pub detail: Option<String>,
}

impl Finding {
    /// A finding that nothing is done about.
    pub fn new(code: Trouble, message: impl Into<String>) -> Finding {
        let message = message.into();
        Finding { code, message, remedy: None, path: None, name: None, step: None, outcome: None, detail: None }
    }

    /// With what to type.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Finding {
        self.remedy = Some(remedy.into());
        self
    }

    /// About this file or directory.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>) -> Finding {
        self.path = Some(path.into());
        self
    }

    /// About this ref.
    #[must_use]
    pub fn of(mut self, name: impl Into<BString>) -> Finding {
        self.name = Some(name.into());
        self
    }

    /// Whether it is no longer so.
    pub fn is_fixed(&self) -> bool {
        self.outcome == Some(Outcome::Done)
    }
}
