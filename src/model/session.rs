//! The folder around a session's worktrees.

use std::path::PathBuf;

use gix::bstr::BString;

use super::{Fact, Lease, Undeletable, Use};

/// All that is known of a session root before it is judged.
#[derive(Debug, Clone)]
pub struct SessionRootFacts {
    /// The folder, resolved.
    pub path: PathBuf,
    /// The lease that names it.
    pub lease: Lease,
    /// Why it is not safely below a folder of sessions; `None`: it is.
    pub misplaced: Fact<Option<String>>,
    /// Worktrees of the session that are still there, or still registered.
    pub worktrees: Fact<Vec<PathBuf>>,
    /// What is in it beside links and directories.
    pub contents: Fact<Vec<BString>>,
    /// What cannot be deleted.
    pub undeletable: Fact<Vec<Undeletable>>,
    /// Who uses it.
    pub in_use: Fact<Vec<Use>>,
}
