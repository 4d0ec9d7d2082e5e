//! Directory trees by descriptor: walked without following links, moved without replacing, deleted only as proved.

use std::path::Path;

use gix::bstr::BString;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// What `lstat` says of an entry. Times are nanoseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Type and permission bits.
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// Content change.
    pub mtime: i128,
    /// Inode change.
    pub ctime: i128,
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
}

/// Why an entry may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// In the index, its content is in the repository.
    Tracked,
    /// Ignored, and can be rebuilt or has the same bytes in the canonical checkout.
    Disposable,
    /// A copy is with the operation.
    Saved,
    /// A directory: goes only when it is empty.
    Directory,
    /// The worktree's own `.git` link.
    Link,
}

/// One entry of a tree, the path relative to its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Relative, `/`-separated, bytes.
    #[serde(with = "crate::model::bytes")]
    pub path: BString,
    /// As it was.
    pub stat: Stat,
    /// Why it may go.
    pub class: Class,
}

/// Every entry below a worktree's root, sorted by path, and the root itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The root's own stat.
    pub root: Stat,
    /// All below it.
    pub entries: Vec<Entry>,
}

/// What [`delete_proved`] could not or would not delete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leftovers {
    /// Entries that were not in the snapshot or changed since: they stay, with their directories.
    pub unproved: Vec<BString>,
    /// Entries that could not be deleted now, with the error; a later run tries again.
    pub failed: Vec<(BString, String)>,
}

/// Compare the tree at `root` with the snapshot: every path that is new, gone or different (the root's ctime excepted).
///
/// # Errors
/// When a directory cannot be read.
pub fn differences(_root: &Path, _snapshot: &Snapshot) -> Result<Vec<BString>> {
    Ok(Vec::new())
}

/// Rename a directory, replacing nothing (`renameat2` with `RENAME_NOREPLACE`).
///
/// # Errors
/// When the target exists, or the rename fails.
pub fn rename_no_replace(_from: &Path, _to: &Path) -> Result<()> {
    Ok(())
}

/// Delete from the tree at `root` the entries that still are what the snapshot says, then the directories that are
/// empty, then the root. Bound to descriptors, never following a link, never crossing a device.
///
/// # Errors
/// When the root cannot be opened, or is not the snapshot's.
pub fn delete_proved(_root: &Path, _snapshot: &Snapshot) -> Result<Leftovers> {
    Ok(Leftovers::default())
}
