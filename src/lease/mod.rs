//! Leases, own and foreign: who owns a shadow (DESIGN section 8).

use std::path::{Path, PathBuf};

use gix::bstr::BStr;

use crate::model::{Fact, Lease, Timestamp};

/// All leases that this user can see, read once a run.
#[derive(Debug, Default)]
pub struct Leases {
    /// Readable ones.
    pub leases: Vec<Lease>,
    /// Files that could not be read or understood, with the error; they hold what they may name.
    pub unreadable: Vec<(PathBuf, String)>,
}

impl Leases {
    /// Read the foreign leases of this user.
    pub fn read() -> Leases {
        Leases::default()
    }

    /// The lease that names this shadow: by its worktree's path (resolved) and its branch. A live one before a dead one.
    pub fn naming(
        &self,
        _repository: &Path,
        _worktree: Option<&Path>,
        _branch: Option<&BStr>,
        _created: Option<Timestamp>,
    ) -> Fact<Option<Lease>> {
        Fact::Known(None)
    }
}

/// The folders in which the aos harness puts its sessions, as they are, existing or not.
pub fn session_folders() -> Vec<PathBuf> {
    Vec::new()
}
