//! Reading a tree: every entry, and what of it this user could not delete.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice as _};
use rustix::fs::{Access, AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;

use super::look::{self, Look};
use super::{Snapshot, Stat, failed};
use crate::error::{Error, Result};
use crate::model::Undeletable;

const STICKY: u32 = 0o1000;

/// A tree as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The root itself.
    pub root: Stat,
    /// Every entry below it, the path relative and `/`-separated, sorted by path.
    pub entries: Vec<(BString, Stat)>,
    /// What this user cannot delete, for a directory everything in it; `.` is the root itself, which could not be
    /// renamed. A mount or an unreadable directory is here and was **not** entered.
    pub undeletable: Vec<Undeletable>,
}

/// Read the tree at `root`, of which only the directories are entered that `descend` wants.
///
/// # Errors
/// When the root or anything in it cannot be read, or changes meanwhile. Directories that this user may not read are
/// no error but `undeletable`.
pub fn walk(root: &Path, descend: impl FnMut(&BStr, &Stat) -> bool) -> Result<Tree> {
    let (parent, name) = open_parent(root)?;
    let seen = look::at(&parent, &name).map_err(|e| failed("look at", root, e))?;
    let mut walker = Walker { user: User::at(seen.stat), descend, entries: Vec::new(), undeletable: Vec::new() };
    let above = look::of(&parent).map_err(|e| failed("look at", root, e))?;
    if let Some(why) =
        walker.user.unwritable(parent.as_fd(), &above, false).or_else(|| walker.user.fixed(&seen, &above))
    {
        walker.undeletable.push(Undeletable { path: ".".into(), why });
    }
    if !seen.mount {
        let fd = look::enter(&parent, &name, &seen).map_err(|e| failed("open", root, e))?;
        walker.directory(fd.as_fd(), &seen, BStr::new("")).map_err(|e| e.context(root.display()))?;
    }
    walker.entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(Tree { root: seen.stat, entries: walker.entries, undeletable: walker.undeletable })
}

/// Compare the tree at `root` with the snapshot: every path that is new, gone or different (the root's ctime excepted,
/// a rename changes it), and what has become undeletable.
///
/// # Errors
/// When a directory cannot be read.
pub fn differences(root: &Path, snapshot: &Snapshot) -> Result<Vec<BString>> {
    let tree = walk(root, |_, _| true)?;
    let mut different: Vec<BString> = tree.undeletable.into_iter().map(|u| u.path).collect();
    let root_now = Stat { ctime: snapshot.root.ctime, ..tree.root };
    if !root_now.is_as(&tree.root, &snapshot.root, &snapshot.root) {
        different.push(".".into());
    }
    let mut then: BTreeMap<&BStr, &Stat> = snapshot.entries.iter().map(|e| (e.path.as_bstr(), &e.stat)).collect();
    for (path, now) in &tree.entries {
        let same = then.remove(path.as_bstr()).is_some_and(|then| now.is_as(&tree.root, then, &snapshot.root));
        if !same {
            different.push(path.clone());
        }
    }
    different.extend(then.into_keys().map(ToOwned::to_owned));
    different.sort();
    different.dedup();
    Ok(different)
}

/// The directory that a root is in, and the root's name there.
pub(super) fn open_parent(root: &Path) -> Result<(OwnedFd, CString)> {
    let name = root.file_name().and_then(|name| CString::new(name.as_encoded_bytes()).ok());
    let Some((name, parent)) = name.zip(root.parent()) else {
        return Err(Error::failed("io", format!("'{}' is no directory of its own", root.display())));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    // It need not be readable, as many a home directory is not for others.
    #[cfg(target_os = "linux")]
    let access = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let access = OFlags::RDONLY;
    let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(parent, flags, Mode::empty()).map_err(|e| failed("open", parent, e))?;
    Ok((fd, name))
}

/// The names in an open directory.
pub(super) fn names(dir: BorrowedFd<'_>) -> rustix::io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// `name` in the directory `path` of a tree.
pub(super) fn join(path: &BStr, name: &std::ffi::CStr) -> BString {
    let mut joined = path.to_owned();
    if !joined.is_empty() {
        joined.push(b'/');
    }
    joined.extend_from_slice(name.to_bytes());
    joined
}

struct Walker<D> {
    user: User,
    descend: D,
    entries: Vec<(BString, Stat)>,
    undeletable: Vec<Undeletable>,
}

/// Who would delete, and from which root.
pub(super) struct User {
    root: Stat,
    uid: u32,
}

impl<D: FnMut(&BStr, &Stat) -> bool> Walker<D> {
    fn directory(&mut self, dir: BorrowedFd<'_>, itself: &Look, path: &BStr) -> Result<()> {
        let names = names(dir).map_err(|e| unreadable(path, e))?;
        if !names.is_empty()
            && let Some(why) = self.user.unwritable(dir, itself, true)
        {
            let path = if path.is_empty() { BStr::new(".") } else { path };
            self.undeletable.push(Undeletable { path: path.to_owned(), why });
        }
        for name in names {
            let path = join(path, &name);
            let entry = look::at(dir, &name).map_err(|e| unreadable(path.as_bstr(), e))?;
            if let Some(why) = self.user.fixed(&entry, itself) {
                self.undeletable.push(Undeletable { path: path.clone(), why });
            }
            let enter =
                entry.stat.is_dir() && !self.user.crosses(&entry) && (self.descend)(path.as_bstr(), &entry.stat);
            if enter {
                match look::enter(dir, &name, &entry) {
                    Ok(fd) => self.directory(fd.as_fd(), &entry, path.as_bstr())?,
                    Err(Errno::ACCESS) => {
                        let why = format!("cannot be read (owned by uid {})", entry.uid);
                        self.undeletable.push(Undeletable { path: path.clone(), why });
                    }
                    Err(error) => return Err(unreadable(path.as_bstr(), error)),
                }
            }
            self.entries.push((path, entry.stat));
        }
        Ok(())
    }
}

impl User {
    pub(super) fn at(root: Stat) -> User {
        User { root, uid: rustix::process::geteuid().as_raw() }
    }

    /// Whether an entry is on another file system, or a mount of this one.
    pub(super) fn crosses(&self, entry: &Look) -> bool {
        entry.mount || entry.stat.dev != self.root.dev
    }

    /// Why nothing in this directory can be deleted. A read-only directory of one's `own` tree can be made writable.
    pub(super) fn unwritable(&self, dir: BorrowedFd<'_>, itself: &Look, own: bool) -> Option<String> {
        let is = if own { "is" } else { "is in a directory that is" };
        if let Some(attribute) = itself.attribute {
            return Some(format!("{is} {attribute}"));
        }
        match rustix::fs::accessat(dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
            Ok(()) => None,
            Err(Errno::ACCESS) if own && itself.uid == self.uid => None,
            Err(Errno::ROFS) => Some("is on a read-only file system".into()),
            Err(Errno::ACCESS) => Some(format!("{is} not writable (owned by uid {})", itself.uid)),
            Err(error) => Some(format!("{is} not to be changed: {error}")),
        }
    }

    /// Why this entry cannot be deleted although others in its directory may be.
    pub(super) fn fixed(&self, entry: &Look, directory: &Look) -> Option<String> {
        if self.crosses(entry) {
            return Some("is a mount point".into());
        }
        if let Some(attribute) = entry.attribute {
            return Some(format!("is {attribute}"));
        }
        (self.is_guarded(directory) && entry.uid != self.uid)
            .then(|| format!("belongs to uid {} in a sticky directory", entry.uid))
    }

    /// Whether only an entry's owner can delete it from this directory.
    pub(super) fn is_guarded(&self, directory: &Look) -> bool {
        directory.stat.mode & STICKY != 0 && self.uid != 0 && directory.uid != self.uid
    }
}

pub(super) fn unreadable(path: &BStr, error: Errno) -> Error {
    let path = if path.is_empty() { BStr::new(".") } else { path };
    match error {
        Errno::NOENT | Errno::STALE | Errno::LOOP | Errno::NOTDIR => {
            Error::failed("changing", format!("'{path}' changed while it was read"))
        }
        error => Error::failed("io", format!("cannot read '{path}': {error}")),
    }
}
