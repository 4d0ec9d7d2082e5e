//! Reading the names in a tree: as cheap as `find`, because only directories are looked at.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use gix::bstr::{BStr, BString};
use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

use super::failed;
use super::look::{self, Look};
use super::walk::{User, open_parent, unreadable};
use crate::error::Result;
use crate::model::Undeletable;

/// What a directory says of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A socket, pipe or device: it holds no bytes.
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::Directory => Kind::Directory,
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        }
    }
}

/// Visit every entry below `root`, the path relative, and tell what this user cannot delete, as [`super::walk`] does:
/// attributes of single files excepted.
///
/// # Errors
/// When the root or anything in it cannot be read, or changes meanwhile.
pub fn skim(root: &Path, visit: impl FnMut(&BStr, Kind)) -> Result<Vec<Undeletable>> {
    let (parent, name) = open_parent(root)?;
    let seen = look::at(&parent, &name).map_err(|e| failed("look at", root, e))?;
    let fd = look::enter(&parent, &name, &seen).map_err(|e| failed("open", root, e))?;
    let mut skimmer = Skimmer { user: User::at(seen.stat), visit, path: BString::default(), undeletable: Vec::new() };
    skimmer.directory(fd.as_fd(), &seen).map_err(|e| e.context(root.display()))?;
    Ok(skimmer.undeletable)
}

struct Skimmer<V> {
    user: User,
    visit: V,
    path: BString,
    undeletable: Vec<Undeletable>,
}

impl<V: FnMut(&BStr, Kind)> Skimmer<V> {
    fn directory(&mut self, dir: BorrowedFd<'_>, itself: &Look) -> Result<()> {
        let guarded = self.user.is_guarded(itself);
        let depth = self.path.len();
        let mut is_empty = true;
        for entry in Dir::read_from(dir).map_err(|e| self.unreadable(e))? {
            let entry = entry.map_err(|e| self.unreadable(e))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            is_empty = false;
            if depth > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name.to_bytes());
            let kind = entry.file_type();
            if guarded || matches!(kind, FileType::Directory | FileType::Unknown) {
                let found = look::at(dir, name).map_err(|e| self.unreadable(e))?;
                self.looked_at(dir, name, &found, itself)?;
            } else {
                (self.visit)(self.path.as_ref(), kind.into());
            }
            self.path.truncate(depth);
        }
        let unwritable = if is_empty { None } else { self.user.unwritable(dir, itself, true) };
        if let Some(why) = unwritable {
            self.cannot_delete(why);
        }
        Ok(())
    }

    fn looked_at(&mut self, dir: BorrowedFd<'_>, name: &std::ffi::CStr, found: &Look, above: &Look) -> Result<()> {
        if let Some(why) = self.user.fixed(found, above) {
            self.cannot_delete(why);
        }
        let kind = found.stat.kind();
        (self.visit)(self.path.as_ref(), kind);
        if kind != Kind::Directory || self.user.crosses(found) {
            return Ok(());
        }
        match look::enter(dir, name, found) {
            Ok(fd) => self.directory(fd.as_fd(), found),
            Err(Errno::ACCESS) => {
                self.cannot_delete(format!("cannot be read (owned by uid {})", found.uid));
                Ok(())
            }
            Err(error) => Err(self.unreadable(error)),
        }
    }

    fn cannot_delete(&mut self, why: String) {
        let path = if self.path.is_empty() { ".".into() } else { self.path.clone() };
        self.undeletable.push(Undeletable { path, why });
    }

    fn unreadable(&self, error: Errno) -> crate::error::Error {
        unreadable(self.path.as_ref(), error)
    }
}
