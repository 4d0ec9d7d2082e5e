//! What becomes of a shadow.

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

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// Rename the worktree aside.
    MoveWorktree,
    /// Move the registration into the operation's folder.
    DropRegistration,
    /// Delete the branch.
    DeleteBranch,
    /// Delete the files that were proved.
    DeleteFiles,
    /// Put back what a killed run had moved.
    Restore,
    /// Finish what a killed run had begun.
    Finish,
    /// HEAD of a linked worktree says its commit instead of its branch.
    DetachHead,
    /// The upstream of a branch is set.
    SetUpstream,
    /// A remote is kept from fetching over the pins.
    ExcludePins,
    /// What a killed run left of its own is deleted.
    Sweep,
}

impl StepKind {
    /// As the JSON report has it.
    pub fn as_str(self) -> &'static str {
        match self {
            StepKind::MoveWorktree => "move-worktree",
            StepKind::DropRegistration => "drop-registration",
            StepKind::DeleteBranch => "delete-branch",
            StepKind::DeleteFiles => "delete-files",
            StepKind::Restore => "restore",
            StepKind::Finish => "finish",
            StepKind::DetachHead => "detach-head",
            StepKind::SetUpstream => "set-upstream",
            StepKind::ExcludePins => "exclude-pins",
            StepKind::Sweep => "sweep",
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A dry run: it would be done.
    Would,
    /// It is done.
    Done,
    /// Something moved meanwhile; nothing was lost, it stays.
    Raced,
    /// It failed; nothing was lost.
    Failed,
    /// It is left for the next run.
    Pending,
}

impl Outcome {
    /// As the JSON report has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Would => "would",
            Outcome::Done => "done",
            Outcome::Raced => "raced",
            Outcome::Failed => "failed",
            Outcome::Pending => "pending",
        }
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
