//! Hooks, as installing them sees them.

use std::path::PathBuf;

use super::Timestamp;

/// What git does that calls one of our hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A merge or a fast-forward pull has ended.
    PostMerge,
    /// A push is about to start.
    PrePush,
}

impl Event {
    /// All of them.
    pub const ALL: [Event; 2] = [Event::PostMerge, Event::PrePush];

    /// As git calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Event::PostMerge => "post-merge",
            Event::PrePush => "pre-push",
        }
    }
}

/// How git is made to call our hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Way {
    /// A file where git looks for hooks
    File,
    /// 'hook.<name>.command' in the repository's configuration (git 2.54 and newer)
    Config,
}

impl Way {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Way::File => "file",
            Way::Config => "config",
        }
    }
}

/// How one hook stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookState {
    /// git calls it.
    Installed,
    /// git calls it, but another version or place of the program wrote it.
    Outdated,
    /// It is there, but git does not call it.
    Bypassed,
    /// It is there and was changed by somebody.
    Edited,
    /// Another hook is at its place, and does not call it.
    Replaced,
    /// It is not there.
    Absent,
    /// It is not there, and here it would never have anything to do.
    Needless,
    /// It is not there and cannot be put there: what manages the hooks here must call it.
    Managed,
}

impl HookState {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            HookState::Installed => "installed",
            HookState::Outdated => "outdated",
            HookState::Bypassed => "bypassed",
            HookState::Edited => "edited",
            HookState::Replaced => "replaced",
            HookState::Absent => "absent",
            HookState::Needless => "needless",
            HookState::Managed => "managed",
        }
    }
}

/// What a run did about one hook, or timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was put there.
    Installed,
    /// An older one of ours was replaced.
    Updated,
    /// It was taken out.
    Removed,
}

impl Change {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Installed => "installed",
            Change::Updated => "updated",
            Change::Removed => "removed",
        }
    }

    /// The word behind "would".
    pub fn would(self) -> &'static str {
        match self {
            Change::Installed => "install",
            Change::Updated => "update",
            Change::Removed => "remove",
        }
    }
}

/// One hook of one repository: what was done about it, and how it stands.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Which.
    pub event: Event,
    /// How it stands, after what was done (in a dry run: before).
    pub state: HookState,
    /// What was done, or would be.
    pub change: Option<Change>,
    /// How git calls it.
    pub way: Option<Way>,
    /// The file that git calls.
    pub path: Option<PathBuf>,
    /// The hook that was there before, which ours calls.
    pub chained: Option<PathBuf>,
    /// What there is to say of the state, as git writes messages.
    pub why: Option<String>,
    /// What would help: lines to type or to add.
    pub remedy: Option<String>,
    /// It would be called and do nothing: what switches it off.
    pub off: Option<String>,
    /// When it last failed, and why, if it has done nothing since.
    pub failed: Option<(Timestamp, String)>,
}
