//! One walk over a checkout: tracked entries are compared, the rest is sorted into untracked, ignored and repositories.
//! Ignored directories are not entered.

use std::path::Path;

use gix::bstr::{BStr, BString};
use gix::index::entry::{Mode, Stat, stat};

use super::excludes::Excludes;
use super::files::{self, Kind, join};
use super::index::{Index, Tracked, is_attributes};
use crate::error::{Error, Result};

/// Something that is not tracked.
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
    /// A file that is not tracked gives attributes.
    pub(super) attributes: bool,
}

/// Walk the checkout at `root`. With `compare`, tracked entries are compared by stat, and by their bytes where that
/// does not settle it, as in [`super::index::is_plain`] checkouts.
///
/// # Errors
/// When anything cannot be read.
pub(super) fn walk(root: &Path, index: &Index, excludes: &mut Excludes<'_>, compare: bool) -> Result<Found> {
    let seen = vec![false; index.file.entries().len()];
    let mut walk = Walk { index, excludes, compare, seen, found: Found::default(), buffer: Vec::new() };
    walk.directory(root, BStr::new(b""))?;
    let Walk { seen, mut found, .. } = walk;
    if compare {
        found
            .changed
            .extend(seen.iter().enumerate().filter(|(_, seen)| !**seen).map(|(at, _)| index.path(at).to_owned()));
    }
    found.untracked.sort();
    found.ignored.sort_by(|a, b| a.path.cmp(&b.path));
    found.changed.sort();
    Ok(found)
}

struct Walk<'a, 'e> {
    index: &'a Index,
    excludes: &'a mut Excludes<'e>,
    compare: bool,
    seen: Vec<bool>,
    found: Found,
    buffer: Vec<u8>,
}

impl Walk<'_, '_> {
    fn directory(&mut self, dir: &Path, below: &BStr) -> Result<()> {
        for (name, kind) in files::list(dir)? {
            if below.is_empty() && name == ".git" {
                continue;
            }
            let full = files::full(dir, name.as_ref())?;
            let path = join(below, name.as_ref());
            let is_dir = kind == Kind::Directory;
            match self.index.find(path.as_ref()) {
                Tracked::Entry(at) => self.entry(at, &full, path, kind)?,
                Tracked::Above if is_dir => self.below(&full, path)?,
                Tracked::Collapsed if is_dir => self.directory(&full, path.as_ref())?,
                Tracked::Collapsed => self.found.collapsed.push(path),
                Tracked::Above | Tracked::No => self.unknown(&full, path, kind)?,
            }
        }
        Ok(())
    }

    /// A directory that holds tracked entries may have become a repository all the same.
    fn below(&mut self, dir: &Path, path: BString) -> Result<()> {
        if is_repository(dir)? && self.index.find(join(path.as_ref(), "HEAD".into()).as_ref()) == Tracked::No {
            self.found.repositories.push(path.clone());
        }
        self.directory(dir, path.as_ref())
    }

    fn entry(&mut self, at: usize, full: &Path, path: BString, kind: Kind) -> Result<()> {
        self.seen[at] = true;
        if self.index.file.entries()[at].mode == Mode::COMMIT && kind == Kind::Directory {
            if files::exists(&full.join(".git"))? {
                self.found.submodules.push(path);
                return Ok(());
            }
            // Not checked out: git does not look inside, whatever is there.
            return self.directory(full, path.as_ref());
        }
        if self.compare && !self.is_same(at, full)? {
            self.found.changed.push(path.clone());
        }
        if kind == Kind::Directory { self.unknown(full, path, kind) } else { Ok(()) }
    }

    fn unknown(&mut self, full: &Path, path: BString, kind: Kind) -> Result<()> {
        if kind == Kind::Other {
            // git does not see it either.
            return Ok(());
        }
        let is_dir = kind == Kind::Directory;
        self.found.attributes |= is_attributes(path.as_ref());
        if self.excludes.is_ignored(self.index, path.as_ref(), is_dir)? {
            self.found.ignored.push(Ignored { path, is_dir });
        } else if !is_dir {
            self.found.untracked.push(path);
        } else if is_repository(full)? {
            self.found.untracked.push(join(path.as_ref(), "".into()));
            self.found.repositories.push(path);
        } else {
            self.directory(full, path.as_ref())?;
        }
        Ok(())
    }

    /// Whether a file or link is what the index says. As git does it, but with nanoseconds, and never trusting a stat
    /// that is not older than the index.
    fn is_same(&mut self, at: usize, full: &Path) -> Result<bool> {
        let entry = &self.index.file.entries()[at];
        let found = gix::index::fs::Metadata::from_path_no_follow(full)
            .map_err(|e| Error::failed("io", format!("failed to query metadata of '{}': {e}", full.display())))?;
        let alike = match entry.mode {
            Mode::SYMLINK => found.is_symlink(),
            mode => found.is_file() && found.is_executable() == (mode == Mode::FILE_EXECUTABLE),
        };
        if !alike {
            return Ok(false);
        }
        let options = stat::Options { trust_ctime: true, check_stat: true, use_nsec: true, use_stdev: false };
        let now = Stat::from_fs(&found).map_err(|e| Error::failed("time", e.to_string()))?;
        // git sets the size to 0 where it could not trust the times.
        let smudged = entry.stat.size == 0;
        if !smudged && now.matches(&entry.stat, options) && !entry.stat.is_racy(self.index.file.timestamp(), options) {
            return Ok(true);
        }
        if !smudged && now.size != entry.stat.size {
            return Ok(false);
        }
        let hash = entry.id.kind();
        let id = if found.is_symlink() {
            files::hash(hash, &files::target(full)?)?
        } else {
            files::blob_id(full, hash, &mut self.buffer)?
        };
        Ok(id == entry.id)
    }
}

/// Whether a directory is a repository of its own: any `.git` entry, or what a bare one has.
///
/// # Errors
/// When that cannot be told.
pub(super) fn is_repository(dir: &Path) -> Result<bool> {
    if files::exists(&dir.join(".git"))? {
        return Ok(true);
    }
    for name in ["HEAD", "objects", "refs"] {
        if !files::exists(&dir.join(name))? {
            return Ok(false);
        }
    }
    Ok(true)
}
