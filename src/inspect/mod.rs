//! One probe per fact; what cannot be read is `Unknown`, never an error that ends the run.

pub mod worktree;

use std::path::PathBuf;

use crate::lease::Leases;
use crate::model::{Fact, Timestamp};
use crate::sys;

/// How much to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Walks of ignored trees only where nothing cheaper holds.
    Thrifty,
    /// Everything.
    Everything,
}

/// Facts of the machine, gathered once a run.
#[derive(Debug)]
pub struct Host {
    /// Who has what open.
    pub processes: Fact<sys::process::Processes>,
    /// Mount points.
    pub mounts: Fact<Vec<PathBuf>>,
    /// Leases.
    pub leases: Leases,
    /// The invoking shell's directory, by device and inode from there up to the root.
    pub here: Fact<Vec<(u64, u64)>>,
    /// Why paths that seem gone may only be out of sight.
    pub confined: Option<String>,
    /// When the machine booted.
    pub booted_at: Option<Timestamp>,
    /// The instant of the run.
    pub now: Timestamp,
}
