//! Deleting what was proved, and nothing else.
//!
//! An entry goes when its path is in the snapshot and its stat still is the snapshot's; a directory (which our own
//! deletions change) when it is the same inode and empty. Everything else stays, with the directories above it, and is
//! reported. It goes on where a killed run stopped: what is missing already is what was wanted.

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice as _};
use rustix::fs::{AtFlags, Mode, RawMode};
use rustix::io::Errno;

use super::look::{self, Look};
use super::walk::{join, names, open_parent};
use super::{Class, Entry, Leftovers, Snapshot, Stat, failed};
use crate::error::{Error, Result};

/// Delete from the tree at `root` the entries that still are what the snapshot says, then the directories that are
/// empty, then the root. Bound to descriptors, never following a link, never crossing a device. A root that is gone
/// has been deleted before.
///
/// # Errors
/// When the root's directory or the root cannot be opened, or the root is not the snapshot's.
pub fn delete_proved(root: &Path, snapshot: &Snapshot) -> Result<Leftovers> {
    let (parent, name) = open_parent(root)?;
    let seen = match look::at(&parent, &name) {
        Ok(seen) => seen,
        Err(Errno::NOENT) => return Ok(Leftovers::default()),
        Err(error) => return Err(failed("look at", root, error)),
    };
    if !seen.stat.is_dir() || seen.stat.ino != snapshot.root.ino {
        return Err(Error::failed(
            "raced",
            format!("'{}' is not the directory that was to be deleted", root.display()),
        ));
    }
    let fd = look::enter(&parent, &name, &seen).map_err(|e| failed("open", root, e))?;
    let mut remover = Remover::new(seen.stat, snapshot);
    let emptied = remover.directory(fd.as_fd(), BStr::new(""));
    if emptied && let Err(error) = rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR) {
        remover.failed(BStr::new("."), error);
    }
    Ok(remover.left)
}

struct Remover<'a> {
    root: Stat,
    root_then: Stat,
    proved: HashMap<&'a BStr, &'a Entry>,
    /// Inodes that several rebuildable entries share: deleting one of them changes the ctime of the others.
    linked: HashSet<u64>,
    left: Leftovers,
}

impl<'a> Remover<'a> {
    fn new(root: Stat, snapshot: &'a Snapshot) -> Self {
        let mut seen = HashSet::new();
        let files = || snapshot.entries.iter().filter(|e| !e.stat.is_dir());
        Remover {
            root,
            root_then: snapshot.root,
            proved: snapshot.entries.iter().map(|e| (e.path.as_bstr(), e)).collect(),
            linked: files().filter(|e| !seen.insert(e.stat.ino)).map(|e| e.stat.ino).collect(),
            left: Leftovers::default(),
        }
    }

    /// Whether nothing is left in the directory.
    fn directory(&mut self, dir: BorrowedFd<'_>, path: &BStr) -> bool {
        let names = match names(dir) {
            Ok(names) => names,
            Err(error) => {
                self.failed(if path.is_empty() { BStr::new(".") } else { path }, error);
                return false;
            }
        };
        let mut emptied = true;
        for name in names {
            emptied &= self.entry(dir, &name, join(path, &name).as_bstr());
        }
        emptied
    }

    /// Whether the entry is gone.
    fn entry(&mut self, dir: BorrowedFd<'_>, name: &CStr, path: &BStr) -> bool {
        let seen = match look::at(dir, name) {
            Ok(seen) => seen,
            Err(Errno::NOENT) => return true,
            Err(error) => return self.failed(path, error),
        };
        if !self.proved.get(path).is_some_and(|entry| self.is_proved(&seen, entry)) {
            self.left.unproved.push(path.to_owned());
            return false;
        }
        let deleted = if seen.stat.is_dir() {
            match look::enter(dir, name, &seen) {
                Ok(fd) if !self.directory(fd.as_fd(), path) => return false,
                Ok(_) => unlink(dir, name, AtFlags::REMOVEDIR),
                Err(error) => Err(error),
            }
        } else {
            unlink(dir, name, AtFlags::empty())
        };
        match deleted {
            Ok(()) | Err(Errno::NOENT) => true,
            Err(error) => self.failed(path, error),
        }
    }

    fn is_proved(&self, seen: &Look, entry: &Entry) -> bool {
        let then = entry.stat;
        match entry.class {
            _ if seen.mount => false,
            _ if seen.stat.is_dir() => {
                then.is_dir()
                    && then.ino == seen.stat.ino
                    && then.dev == self.root_then.dev
                    && seen.stat.dev == self.root.dev
            }
            Class::Disposable if self.linked.contains(&then.ino) => {
                Stat { ctime: then.ctime, ..seen.stat }.is_as(&self.root, &then, &self.root_then)
            }
            Class::Tracked | Class::Disposable | Class::Saved | Class::Link => {
                seen.stat.is_as(&self.root, &then, &self.root_then)
            }
            Class::Directory => false,
        }
    }

    fn failed(&mut self, path: &BStr, error: Errno) -> bool {
        let path: BString = path.to_owned();
        self.left.failed.push((path, error.to_string()));
        false
    }
}

/// Delete a name; a read-only directory of this user is made writable for it, through its descriptor.
fn unlink(dir: BorrowedFd<'_>, name: &CStr, flags: AtFlags) -> rustix::io::Result<()> {
    match rustix::fs::unlinkat(dir, name, flags) {
        Err(Errno::ACCESS) => {
            let mode = look::of(dir)?.stat.mode;
            rustix::fs::fchmod(dir, Mode::from_raw_mode(((mode | 0o700) & 0o7777) as RawMode))?;
            rustix::fs::unlinkat(dir, name, flags)
        }
        done => done,
    }
}
