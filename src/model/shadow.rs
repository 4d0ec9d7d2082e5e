//! A shadow: a session's linked worktree, its registration and its branch, or whichever of them still exist.

use std::path::PathBuf;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};

/// A ref that work lands on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Base {
    /// The full, resolved name, never a symbolic ref such as `refs/remotes/origin/HEAD`.
    pub name: BString,
    /// What it points at.
    pub tip: ObjectId,
    /// When it was last fetched (a remote-tracking ref: the newest of its reflog and `FETCH_HEAD`).
    pub fetched_at: Option<super::Timestamp>,
}

/// A local branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The full name, `refs/heads/…`.
    pub name: BString,
    /// What it points at; `None` where the ref is symbolic or broken (then a fact says so).
    pub tip: Option<ObjectId>,
}

/// Where the HEAD of a registration points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// On a branch, with its commit (`None`: unborn).
    Branch(BString, Option<ObjectId>),
    /// At a commit.
    Detached(ObjectId),
    /// It could not be read.
    Broken(String),
}

impl Head {
    /// The commit, where there is one.
    pub fn commit(&self) -> Option<ObjectId> {
        match self {
            Head::Branch(_, commit) => *commit,
            Head::Detached(commit) => Some(*commit),
            Head::Broken(_) => None,
        }
    }
}

/// `<common dir>/worktrees/<id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The directory's name.
    pub id: BString,
    /// The directory itself, absolute.
    pub git_dir: PathBuf,
    /// The worktree that `gitdir` names (without its `.git`), absolute; `None` without a readable `gitdir`.
    pub path: Option<PathBuf>,
    /// Where HEAD points.
    pub head: Head,
    /// Every branch it names (full names): HEAD, and what a rebase, bisect or `update-refs` will come back to,
    /// each with how. What could not be read is in the error.
    pub names: Vec<(BString, &'static str)>,
    /// A state file that could not be read; then any branch may be named.
    pub unread: Option<String>,
}

/// A session's worktree, registration and branch, or whichever of them still exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadow {
    /// The short branch name, else the registration's id.
    pub name: BString,
    /// Not ours by policy: shown by `list --all`, never touched.
    pub foreign: bool,
    /// Its branch, where it is ours to release.
    pub branch: Option<Branch>,
    /// Its registration, where there is one.
    pub worktree: Option<Registration>,
}

impl Shadow {
    /// What it stands at: the tip of its branch, else the commit of its HEAD.
    pub fn tip(&self) -> Option<ObjectId> {
        let head = || self.worktree.as_ref().and_then(|registration| registration.head.commit());
        self.branch.as_ref().map_or_else(head, |branch| branch.tip)
    }
}

/// `x` of `aos/x`.
pub fn last_part(name: &BStr) -> &BStr {
    name.rsplit_str("/").next().unwrap_or(name).as_bstr()
}

/// `aos/x` of `refs/heads/aos/x`, `origin/x` of `refs/remotes/origin/x`.
pub fn short_name(full: &BStr) -> &BStr {
    for prefix in ["refs/heads/", "refs/remotes/", "refs/tags/"] {
        if let Some(rest) = full.strip_prefix(prefix.as_bytes()) {
            return rest.as_bstr();
        }
    }
    full
}
