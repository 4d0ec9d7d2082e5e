//! What something takes on the disk.

/// Allocated bytes; what has several names in what was counted is in it once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Disk {
    /// How many.
    pub bytes: u64,
    /// All of it could be read; else it is more.
    pub complete: bool,
}

/// What worktrees take, measured together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disks {
    /// All of them.
    pub all: Disk,
    /// Those that are to be released.
    pub release: Disk,
    /// Those of each repository, in the order of the report.
    pub repositories: Vec<Disk>,
}
