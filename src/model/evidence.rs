//! All that is known of a shadow before it is judged: owned data, so that judging is pure.

use std::path::PathBuf;

use gix::ObjectId;
use gix::bstr::BString;

use super::{Base, Fact, Landing, Lease, Shadow, Timestamp};

/// Facts of a whole repository.
#[derive(Debug, Clone, Default)]
pub struct RepositoryFacts {
    /// The bases; `Unknown` is `base-unresolved` and says what would fix it.
    pub bases: Fact<Vec<Base>>,
    /// Fetch refspecs that would overwrite or prune `refs/shadow/*`, with their remote.
    pub mirror: Fact<Vec<(String, String)>>,
    /// `info/grafts` has entries.
    pub grafts: Fact<bool>,
}

/// Where the worktree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At the registered path, and both directions of the link agree.
    Present,
    /// Gone for good (the text says how that is known).
    Purged(String),
    /// Away, but not provably gone (the text says why not).
    Missing {
        /// What is known.
        why: String,
        /// What would help.
        remedy: String,
    },
    /// The path holds something else, or the link is broken (the text says what).
    NotOurs(String),
}

/// What kind of lock a registration has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockKind {
    /// By hand, or in a form that is not known.
    ByHand,
    /// git's own while `worktree add` runs.
    Initializing,
    /// Our mark after an undo; `release <shadow>` passes it.
    Undone,
    /// Our marker of a release that is under way or was killed.
    Releasing,
    /// It names a process (`stale`: provably dead).
    Process {
        /// The process.
        pid: i64,
        /// It is provably gone.
        stale: bool,
    },
}

/// A lock on a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// The reason as written; may hold newlines, may be empty.
    pub reason: BString,
    /// What kind it is.
    pub kind: LockKind,
}

/// What git status says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Tracked paths that are changed, staged or not.
    pub tracked: Vec<BString>,
    /// Untracked paths.
    pub untracked: Vec<BString>,
    /// Nothing but line endings differs in the tracked paths.
    pub only_line_endings: bool,
}

/// Someone who uses a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    /// A process: what of it is inside (`working directory`, `root`, `executable`, `open file`, `mapping`; `mount`: a container was given it).
    Process {
        /// The process.
        pid: i64,
        /// Its name.
        name: String,
        /// What of it is inside.
        what: &'static str,
        /// The path inside.
        path: PathBuf,
    },
    /// A mount at or below the worktree.
    Mount(PathBuf),
}

/// Something that this user cannot delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undeletable {
    /// Below the worktree.
    pub path: BString,
    /// Why not.
    pub why: String,
}

/// Commits that exist on no remote and in no base.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unpushed {
    /// How many.
    pub count: usize,
    /// Reachable from HEAD only, on no branch either.
    pub detached: bool,
}

/// What a killed or running operation has under way with a shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingWork {
    /// The next real run puts it back, then judges it.
    Restore,
    /// The release is decided; the next real run finishes it.
    Finish,
}

/// An intent of an operation that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The operation.
    pub operation: String,
    /// What the next real run does.
    pub work: PendingWork,
    /// Another run works on it just now.
    pub under_way: bool,
}

impl Pending {
    /// What has happened, for people.
    pub fn told(&self) -> String {
        format!("operation {} {}", self.operation, if self.under_way { "is under way" } else { "was interrupted" })
    }
}

/// Facts about a worktree and its registration.
#[derive(Debug, Clone, Default)]
pub struct WorktreeFacts {
    /// Where it is.
    pub place: Fact<Place>,
    /// Device and inode of the worktree's root, to tell it from another at the same path within this process.
    pub root: Option<(u64, u64)>,
    /// The invoking shell is inside.
    pub current: Fact<bool>,
    /// Its lock.
    pub lock: Fact<Option<Lock>>,
    /// When it was registered (mtime of `commondir`).
    pub created: Fact<Timestamp>,
    /// Its HEAD reflog has an entry that made a commit.
    pub own_work: Fact<bool>,
    /// Operations in progress and lock files, each in a few words.
    pub operation: Fact<Vec<String>>,
    /// What git status says.
    pub status: Fact<Status>,
    /// Tracked paths that differ where status does not look.
    pub hidden_edits: Fact<Vec<BString>>,
    /// Ignored paths that cannot be rebuilt, found without walking ignored trees.
    pub ignored: Fact<Vec<BString>>,
    /// The same from inside rebuildable ignored trees.
    pub ignored_deep: Fact<Vec<BString>>,
    /// What cannot be deleted.
    pub undeletable: Fact<Vec<Undeletable>>,
    /// Repositories inside.
    pub nested_repositories: Fact<Vec<BString>>,
    /// Registered worktrees inside.
    pub nested_worktrees: Fact<Vec<PathBuf>>,
    /// What holds in its submodules, each in words.
    pub submodules: Fact<Vec<String>>,
    /// Who uses it.
    pub in_use: Fact<Vec<Use>>,
    /// What its HEAD reaches that is nowhere else.
    pub unpushed: Fact<Unpushed>,
    /// The first base that reaches HEAD.
    pub head_in_base: Fact<Option<RefAt>>,
    /// A remote-tracking ref that reaches HEAD.
    pub head_on_remote: Fact<Option<RefAt>>,
    /// What became of HEAD's work.
    pub head_landing: Fact<Landing>,
    /// Private refs that reach objects nothing else keeps.
    pub private_refs: Fact<Vec<BString>>,
    /// Purged: paths whose entry in the leftover index differs from HEAD.
    pub staged: Fact<Vec<BString>>,
    /// In a bare layout, the base this worktree is named after.
    pub primary: Option<BString>,
}

/// Who names a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchUser {
    /// The registration's id; `None`: the main worktree.
    pub id: Option<BString>,
    /// Where it is, for people.
    pub path: PathBuf,
    /// How it names it: `checked out`, `being rebased`, …
    pub how: &'static str,
}

/// A full ref name and what it points at.
pub type RefAt = (BString, ObjectId);

/// Facts about a branch.
#[derive(Debug, Clone, Default)]
pub struct BranchFacts {
    /// The ref is symbolic, or could not be read.
    pub symref: Fact<bool>,
    /// A commit was made on it (DESIGN section 2, "own work").
    pub own_work: Fact<bool>,
    /// Commits of the tip that are in no base.
    pub own_commits: Fact<usize>,
    /// Commits of the tip that are in no base and on no remote.
    pub unpushed: Fact<usize>,
    /// The first base that reaches the tip.
    pub in_base: Fact<Option<RefAt>>,
    /// A remote-tracking ref that reaches the tip: its own name first.
    pub on_remote: Fact<Option<RefAt>>,
    /// What became of its work.
    pub landing: Fact<Landing>,
    /// Landed only on a local base that no remote has.
    pub landed_locally_only: Fact<bool>,
    /// Every worktree that names it.
    pub users: Vec<BranchUser>,
    /// Why it is protected.
    pub protected: Fact<Option<String>>,
    /// Undo brought it back at this tip and it has not moved since.
    pub undone: Fact<bool>,
    /// Its configured upstream (a remote-tracking ref) does not exist.
    pub upstream_gone: Fact<bool>,
}

/// The newest sign of activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age {
    /// When; `None`: no sign is known, it counts from the first real run that sees it.
    pub newest: Option<Timestamp>,
}

/// All that is known of one shadow.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Which shadow.
    pub shadow: Shadow,
    /// Its worktree and registration.
    pub worktree: Option<WorktreeFacts>,
    /// Its branch.
    pub branch: Option<BranchFacts>,
    /// The lease that names it.
    pub lease: Fact<Option<Lease>>,
    /// When something last happened.
    pub age: Fact<Age>,
    /// The oldest sign of it: when its registration was made, or the first entry of its branch's reflog.
    pub begun: Fact<Option<Timestamp>>,
    /// An operation that is not done has it.
    pub pending: Option<Pending>,
}

impl Evidence {
    /// A shadow that is not looked at: foreign, or not among those asked for.
    pub fn not_asked(shadow: Shadow) -> Self {
        let (lease, age, begun) = (Fact::NotAsked, Fact::NotAsked, Fact::NotAsked);
        Evidence { shadow, worktree: None, branch: None, lease, age, begun, pending: None }
    }
}
