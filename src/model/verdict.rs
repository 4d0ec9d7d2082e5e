//! What becomes of a shadow.

use super::words::words;

/// What becomes of a shadow as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// All that is left of it goes.
    Release,
    /// Its worktree goes, its branch stays.
    Partial,
    /// All of it stays.
    Held,
    /// Not ours.
    Foreign,
}

impl Verdict {
    /// As the JSON report has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Release => "release",
            Verdict::Partial => "partial",
            Verdict::Held => "held",
            Verdict::Foreign => "foreign",
        }
    }
}

/// What becomes of one of its halves, worktree or branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Half {
    /// It goes.
    Release,
    /// It stays.
    Held,
}

impl Half {
    /// As the JSON report has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Half::Release => "release",
            Half::Held => "held",
        }
    }
}

/// Why it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Because {
    /// Its work is in a base.
    Landed,
    /// It has no work of its own.
    Unused,
    /// Its commits are on a remote, only the worktree goes.
    KeptElsewhere,
    /// Only a registration was left, its branch keeps the commits.
    Purged,
}

impl Because {
    /// As the JSON report has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Because::Landed => "landed",
            Because::Unused => "unused",
            Because::KeptElsewhere => "kept-elsewhere",
            Because::Purged => "purged",
        }
    }
}

words! {
    /// What a step does.
    StepKind {
        MoveWorktree "move-worktree" "rename the worktree aside",
        DropRegistration "drop-registration" "move the registration into the operation's folder",
        DeleteBranch "delete-branch" "delete the branch, if it is still at the tip that was judged",
        DeleteFiles "delete-files" "delete the files that were proved",
        Restore "restore" "put back what a killed run had moved",
        Finish "finish" "finish what a killed run had begun",
        DetachHead "detach-head" "HEAD of a linked worktree says its commit instead of its branch",
        SetUpstream "set-upstream" "set the upstream of a branch",
        ExcludePins "exclude-pins" "keep a remote from fetching over the pins",
        Sweep "sweep" "delete what a killed run left of its own",
    }
}

words! {
    /// How a step ended.
    Outcome {
        Would "would" "a dry run: it would be done",
        Done "done" "it is done",
        Raced "raced" "something moved meanwhile; nothing was lost, it stays",
        Failed "failed" "it failed; nothing was lost",
        Pending "pending" "it is left for the next run",
    }
}

/// One step and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    /// What it does.
    pub step: StepKind,
    /// How it ended.
    pub outcome: Outcome,
    /// What there is to say.
    pub detail: Option<String>,
}
