//! What an operation is about to do with one shadow (or one batch of branches), written before anything moves: all
//! that is needed to finish it, to reverse it, and to take it back.

use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _, ByteVec as _};
use serde::{Deserialize, Serialize};

use super::repair::Repair;
use super::text::{self, NamedRef};
use crate::model::{Timestamp, bytes};

/// The format of an item's `intent.json`.
pub const INTENT: &str = "git-shadow.intent.v1";

/// A shadow with a worktree or a registration, or one batch of branches without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// [`INTENT`].
    pub schema: String,
    /// The shadow; of a batch, the first one.
    #[serde(with = "bytes")]
    pub name: BString,
    /// Why it goes, as the report has it.
    pub because: String,
    /// The worktree and registration that go.
    pub worktree: Option<WorktreeIntent>,
    /// The branches that go: one at most with a worktree, any number in a batch.
    pub branches: Vec<BranchIntent>,
    /// The refs that keep what this item could make unreachable.
    pub pins: Vec<NamedRef>,
    /// Ids that the registration or a reflog names, whose object was missing already.
    pub missing: Vec<String>,
    /// Nothing is released: this is set right instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repair>,
}

/// A worktree and its registration, as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeIntent {
    /// The registration's id.
    #[serde(with = "bytes")]
    pub id: BString,
    /// The worktree's path, where it is known.
    #[serde(with = "text::maybe")]
    pub path: Option<BString>,
    /// Where its files wait for their deletion; `None`: they were gone.
    #[serde(with = "text::maybe")]
    pub hidden: Option<BString>,
    /// The branch that HEAD was on.
    #[serde(with = "text::maybe")]
    pub branch: Option<BString>,
    /// HEAD's commit, in hex.
    pub head: Option<String>,
    /// The lock that the release passes: it comes back with a reversal.
    #[serde(with = "text::maybe")]
    pub lock: Option<BString>,
    /// The line that hides [`WorktreeIntent::hidden`] in the checkout around it.
    pub exclude: Option<Exclude>,
}

/// A line in a checkout's `info/exclude`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclude {
    /// The file.
    #[serde(with = "bytes")]
    pub file: BString,
    /// Exactly what is appended.
    pub text: String,
    /// There was no such file before.
    pub created: bool,
}

/// A branch, as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchIntent {
    /// The full name.
    #[serde(with = "bytes")]
    pub name: BString,
    /// Its tip.
    #[serde(with = "text::oid")]
    pub tip: ObjectId,
    /// What the proof rested on.
    pub rests_on: NamedRef,
    /// Its reflog, byte for byte.
    #[serde(with = "text::maybe")]
    pub reflog: Option<BString>,
    /// Its sections in the repository's configuration, byte for byte.
    #[serde(with = "bytes")]
    pub config: BString,
}

/// What became of an item: the content of its marker files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When.
    pub at: Timestamp,
    /// Why, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The worktree and registration are meant.
    #[serde(default)]
    pub worktree: bool,
    /// The branches that are meant, in the journal's text form.
    #[serde(default)]
    pub branches: Vec<String>,
    /// Paths below the renamed tree that nothing proves: they stay there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

impl Mark {
    /// A mark with nothing but its time and reason.
    pub fn new(at: Timestamp, why: Option<String>) -> Mark {
        Mark { at, why, worktree: false, branches: Vec::new(), left: Vec::new() }
    }

    /// Whether this branch is meant.
    pub fn names(&self, branch: &BStr) -> bool {
        self.branches.iter().any(|b| bytes::decode(b).is_some_and(|b| b == branch))
    }
}

impl WorktreeIntent {
    /// The worktree's path.
    pub fn path(&self) -> Option<PathBuf> {
        self.path.as_ref().map(|p| to_path(p.as_ref()))
    }

    /// Where the files wait.
    pub fn hidden(&self) -> Option<PathBuf> {
        self.hidden.as_ref().map(|p| to_path(p.as_ref()))
    }

    /// HEAD's commit.
    pub fn head(&self) -> Option<ObjectId> {
        self.head.as_ref().and_then(|hex| ObjectId::from_hex(hex.as_bytes()).ok())
    }

    /// Where the registration was.
    pub fn git_dir(&self, common_dir: &Path) -> PathBuf {
        common_dir.join("worktrees").join(to_path(self.id.as_ref()))
    }
}

/// A path of the journal.
pub fn to_path(name: &BStr) -> PathBuf {
    name.to_path_lossy().into_owned()
}

/// A path for the journal.
pub fn of_path(path: &Path) -> BString {
    Vec::from_path_lossy(path).into_owned().into()
}
