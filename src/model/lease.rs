//! Leases: which process owns a shadow.

use std::path::PathBuf;

use gix::bstr::BString;

use super::Timestamp;

/// Whether the holder of a lease still works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseState {
    /// The process runs, or cannot be shown to be dead (the text says which).
    Live(String),
    /// The process is provably gone, or there never was one.
    Dead,
    /// The lease says that it is released: the session is done.
    Released,
}

impl LeaseState {
    /// As the porcelain has it.
    pub fn as_str(&self) -> &'static str {
        match self {
            LeaseState::Live(_) => "live",
            LeaseState::Dead => "dead",
            LeaseState::Released => "released",
        }
    }
}

/// A lease as it concerns one shadow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The session's id.
    pub id: String,
    /// The format the file declares.
    pub format: String,
    /// The file.
    pub path: PathBuf,
    /// The process, where one is named.
    pub pid: Option<i64>,
    /// Whether it still works.
    pub state: LeaseState,
    /// The session said that it is finished.
    pub finished: Option<Timestamp>,
    /// The newest time written in the file (never the file's mtime).
    pub newest: Option<Timestamp>,
    /// The worktrees it names, unresolved.
    pub worktrees: Vec<PathBuf>,
    /// Where the repositories that it names may be, resolved.
    pub repositories: Vec<PathBuf>,
    /// The folder around them.
    pub session_root: Option<PathBuf>,
    /// The branches it names.
    pub branches: Vec<BString>,
}

impl Lease {
    /// Of several leases the one that holds most counts: the lowest rank.
    pub fn rank(&self) -> u8 {
        match self.state {
            LeaseState::Live(_) => 0,
            LeaseState::Dead => 1,
            LeaseState::Released => 2,
        }
    }

    /// Whether its process may still be at work.
    pub fn is_live(&self) -> bool {
        matches!(self.state, LeaseState::Live(_))
    }
}
