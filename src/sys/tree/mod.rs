//! Directory trees by descriptor: walked without following links, moved without replacing, deleted only as proved.
//!
//! What holds for all of it: a directory is opened from its parent's descriptor, as a directory and never through a
//! link, and must then be the entry that was looked at (device and inode). A mount below the root is never entered,
//! also when it is a bind mount of the same device.

mod look;
mod remove;
mod rename;
mod skim;
mod usage;
mod walk;

use std::path::Path;

use gix::bstr::BString;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

pub use remove::delete_proved;
pub use rename::rename_no_replace;
pub use skim::{Kind, skim};
pub use usage::{Usage, usage};
pub use walk::{Tree, differences, walk};

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

impl Stat {
    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind() == Kind::Directory
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind() == Kind::File
    }

    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.kind() == Kind::Link
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        rustix::fs::FileType::from_raw_mode(self.mode as rustix::fs::RawMode).into()
    }

    /// Whether this is what was seen before, each stat with that of its root: all fields equal, but that a device is told
    /// by being its root's. Device numbers are given out anew when a machine boots, so a number that another run
    /// wrote down says nothing.
    fn is_as(&self, root: &Stat, then: &Stat, root_then: &Stat) -> bool {
        let dev = then.dev;
        Stat { dev, ..*self } == *then && self.dev == root.dev && then.dev == root_then.dev
    }
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

/// What is at `path` itself, a link not followed; `None` when there is nothing.
///
/// # Errors
/// When it cannot be told (only "no such file" and "not a directory" mean nothing).
pub fn stat(path: &Path) -> Result<Option<Stat>> {
    match look::at(rustix::fs::CWD, path) {
        Ok(look) => Ok(Some(look.stat)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(failed("look at", path, error)),
    }
}

/// What an open file is.
///
/// # Errors
/// When the kernel does not say.
pub fn stat_of(file: impl std::os::fd::AsFd) -> Result<Stat> {
    look::of(file).map(|look| look.stat).map_err(|error| Error::failed("io", format!("cannot look at a file: {error}")))
}

fn failed(what: &str, path: &Path, error: Errno) -> Error {
    Error::failed("io", format!("cannot {what} '{}': {error}", path.display()))
}
