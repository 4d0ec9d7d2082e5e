//! One walk over a checkout: tracked entries are compared, the rest is sorted into untracked, ignored and repositories.
//! Ignored directories, submodules and repositories are not entered.

use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::{Mode, stat::Time};

use super::excludes::Excludes;
use super::files::{self, full, join};
use super::index::{Index, Tracked, is_attributes};
use crate::error::Result;
use crate::model::Undeletable;
use crate::sys::tree::{self, Stat};

/// Something that git ignores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ignored {
    pub(super) path: BString,
    pub(super) is_dir: bool,
}

/// What a walk found; paths are relative to the root.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Tracked paths that differ from the index (empty when nothing was compared).
    pub(super) changed: Vec<BString>,
    /// Neither tracked nor ignored; a repository with a slash at the end.
    pub(super) untracked: Vec<BString>,
    /// Ignored, topmost ones only.
    pub(super) ignored: Vec<Ignored>,
    /// Repositories in what is not ignored, submodules excepted.
    pub(super) repositories: Vec<BString>,
    /// Gitlinks with a `.git`.
    pub(super) submodules: Vec<BString>,
    /// Files below a directory that the sparse index does not list.
    pub(super) collapsed: Vec<BString>,
    /// What cannot be deleted, of all that was entered.
    pub(super) undeletable: Vec<Undeletable>,
    /// A file that is not tracked gives attributes.
    pub(super) attributes: bool,
}

/// Walk the checkout at `root`. With `compare`, tracked entries are compared by stat, and by their bytes where that
/// does not settle it, as in [`super::index::is_plain`] checkouts.
///
/// # Errors
/// When anything cannot be read.
pub(super) fn walk(root: &Path, index: &Index, excludes: &mut Excludes<'_>, compare: bool) -> Result<Found> {
    let mut walk = Walk { root, index, excludes, found: Found::default(), buffer: Vec::new() };
    let mut failed = None;
    let tree = tree::walk(root, |path, _| {
        walk.enters(path).unwrap_or_else(|error| {
            failed.get_or_insert(error);
            false
        })
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let mut seen = vec![false; index.file.entries().len()];
    for (path, stat) in &tree.entries {
        let known = index.find(path.as_ref());
        if let Tracked::Entry(at) = known {
            seen[at] = true;
            let is_gitlink = index.file.entries()[at].mode == Mode::COMMIT && stat.is_dir();
            if compare && !is_gitlink && !walk.is_same(at, path.as_ref(), stat)? {
                walk.found.changed.push(path.clone());
            }
        } else if !stat.is_dir() {
            walk.not_tracked(known, path.as_ref(), stat)?;
        }
    }
    let mut found = walk.found;
    if compare {
        let gone = seen.iter().enumerate().filter(|(_, seen)| !**seen).map(|(at, _)| index.path(at).to_owned());
        found.changed.extend(gone);
        found.changed.sort();
    }
    found.undeletable = tree.undeletable;
    found.untracked.sort();
    found.ignored.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

struct Walk<'a, 'e> {
    root: &'a Path,
    index: &'a Index,
    excludes: &'a mut Excludes<'e>,
    found: Found,
    buffer: Vec<u8>,
}

impl Walk<'_, '_> {
    /// Whether to enter a directory; what is not entered is noted.
    fn enters(&mut self, path: &BStr) -> Result<bool> {
        if last(path) == ".git" {
            // A directory with tracked files may have become a repository all the same.
            self.found.repositories.extend(above(path).map(ToOwned::to_owned));
            return Ok(false);
        }
        let known = self.index.find(path);
        let is_gitlink = |at: usize| self.index.file.entries()[at].mode == Mode::COMMIT;
        match known {
            Tracked::Above | Tracked::Collapsed => Ok(true),
            Tracked::Entry(at) if is_gitlink(at) => {
                let initialised = files::exists(&full(self.root, path)?.join(".git"))?;
                if initialised {
                    self.found.submodules.push(path.to_owned());
                }
                // Where it is not checked out, git does not look inside, whatever is there.
                Ok(!initialised)
            }
            Tracked::Entry(_) | Tracked::No => {
                if self.excludes.is_ignored(self.index, path, true)? {
                    self.found.ignored.push(Ignored { path: path.to_owned(), is_dir: true });
                    return Ok(false);
                }
                let repository = is_repository(&full(self.root, path)?)?;
                if repository {
                    self.found.untracked.push(join(path, "".into()));
                    self.found.repositories.push(path.to_owned());
                }
                Ok(!repository)
            }
        }
    }

    /// A file or link that the index does not have.
    fn not_tracked(&mut self, known: Tracked, path: &BStr, stat: &Stat) -> Result<()> {
        let inside = above(path);
        if path == ".git" || !(stat.is_file() || stat.is_link()) {
            // Sockets and the like hold no bytes; git does not see them either.
            return Ok(());
        }
        if last(path) == ".git" || (last(path) == "HEAD" && is_bare(&full(self.root, inside.unwrap_or_default())?)?) {
            self.found.repositories.push(inside.map_or_else(|| ".".into(), ToOwned::to_owned));
        }
        self.found.attributes |= is_attributes(path);
        if known == Tracked::Collapsed {
            self.found.collapsed.push(path.to_owned());
        } else if self.excludes.is_ignored(self.index, path, false)? {
            self.found.ignored.push(Ignored { path: path.to_owned(), is_dir: false });
        } else {
            self.found.untracked.push(path.to_owned());
        }
        Ok(())
    }

    /// Whether a file or link is what the index says. As git does it, but with nanoseconds, and never trusting a stat
    /// that is not older than the index.
    fn is_same(&mut self, at: usize, path: &BStr, now: &Stat) -> Result<bool> {
        let entry = &self.index.file.entries()[at];
        let alike = match entry.mode {
            Mode::SYMLINK => now.is_link(),
            mode => now.is_file() && (now.mode & 0o100 != 0) == (mode == Mode::FILE_EXECUTABLE),
        };
        if !alike {
            return Ok(false);
        }
        // The index keeps the lower 32 bits. A size of 0 may also mean that git could not trust the times.
        let then = &entry.stat;
        let same_size = then.size == now.size as u32;
        if !same_size && then.size != 0 {
            return Ok(false);
        }
        let same_stat = same_size && now.mtime == nanoseconds(then.mtime) && now.ctime == nanoseconds(then.ctime);
        if same_stat && then.ino == now.ino as u32 && then.size != 0 && now.mtime < self.index.written() {
            return Ok(true);
        }
        files::is_blob(&full(self.root, path)?, now, entry.id, &mut self.buffer)
    }
}

fn nanoseconds(time: Time) -> i128 {
    i128::from(time.secs) * 1_000_000_000 + i128::from(time.nsecs)
}

/// The last name of a path.
pub(super) fn last(path: &BStr) -> &BStr {
    path.rsplit_once_str("/").map_or(path, |(_, last)| last.as_bstr())
}

/// The directory that a path is in, unless that is the root.
pub(super) fn above(path: &BStr) -> Option<&BStr> {
    path.rsplit_once_str("/").map(|(above, _)| above.as_bstr())
}

/// Whether a directory is a repository of its own: any `.git` entry, or what a bare one has.
///
/// # Errors
/// When that cannot be told.
pub(super) fn is_repository(dir: &Path) -> Result<bool> {
    Ok(files::exists(&dir.join(".git"))? || is_bare(dir)?)
}

fn is_bare(dir: &Path) -> Result<bool> {
    for name in ["HEAD", "objects", "refs"] {
        if !files::exists(&dir.join(name))? {
            return Ok(false);
        }
    }
    Ok(true)
}
