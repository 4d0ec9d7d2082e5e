//! The index of a checkout as the walk asks it, and whether content can be compared without git.

use std::path::Path;

use gix::bstr::{BStr, ByteSlice as _};
use gix::index::entry::{Flags, Mode};

use super::{files, staged};
use crate::error::{Error, Result, chain};

/// What the index says of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tracked {
    /// A file, a link or a gitlink, by its place among the entries.
    Entry(usize),
    /// A directory with tracked entries below it.
    Above,
    /// Below a directory that a sparse index does not list.
    Collapsed,
    /// Nothing.
    No,
}

/// An index, read once.
pub(super) struct Index {
    pub(super) file: gix::index::File,
    collapsed: Vec<std::ops::Range<usize>>,
}

impl Index {
    /// The index of a git directory; an absent one has no entries.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(gix: &gix::Repository, git_dir: &Path) -> Result<Index> {
        let path = git_dir.join("index");
        let file = if files::exists(&path)? {
            staged::open(gix, &path)?
        } else {
            gix::index::File::from_state(gix::index::State::new(gix.object_hash()), path)
        };
        let sparse = |e: &gix::index::Entry| e.mode == Mode::DIR;
        let collapsed = file.entries().iter().enumerate().filter(|(_, e)| sparse(e)).map(|(at, _)| at..at + 1);
        let collapsed = collapsed.collect();
        Ok(Index { file, collapsed })
    }

    /// What is known of a path.
    pub(super) fn find(&self, path: &BStr) -> Tracked {
        if let Ok(at) = self.file.entry_index_by_path(path) {
            return Tracked::Entry(at);
        }
        let mut below = path.to_owned();
        below.push(b'/');
        let entries = self.file.entries();
        let at = entries.partition_point(|e| e.path(&self.file) < below.as_bstr());
        if entries.get(at).is_some_and(|e| e.path(&self.file).starts_with(&below)) {
            return Tracked::Above;
        }
        let hidden = |r: &std::ops::Range<usize>| below.starts_with(entries[r.start].path(&self.file));
        if self.collapsed.iter().any(hidden) { Tracked::Collapsed } else { Tracked::No }
    }

    /// When it was written, in nanoseconds: a file that is not older may have changed unseen.
    pub(super) fn written(&self) -> i128 {
        let written = self.file.timestamp();
        i128::from(written.unix_seconds()) * 1_000_000_000 + i128::from(written.nanoseconds())
    }

    /// The path of an entry.
    pub(super) fn path(&self, at: usize) -> &BStr {
        self.file.entries()[at].path(&self.file)
    }

    /// Whether every entry can be compared with its file by type, stat and bytes alone: nothing flagged, sparse or
    /// conflicted, no gitlink, no attributes.
    fn is_plain(&self) -> bool {
        self.file.entries().iter().all(|e| {
            let odd = Flags::SKIP_WORKTREE | Flags::ASSUME_VALID | Flags::INTENT_TO_ADD;
            let known = matches!(e.mode, Mode::FILE | Mode::FILE_EXECUTABLE | Mode::SYMLINK);
            known && e.stage_raw() == 0 && !e.flags.intersects(odd) && !is_attributes(e.path(&self.file))
        })
    }
}

/// Whether a path is a file that gives attributes to others.
pub(super) fn is_attributes(path: &BStr) -> bool {
    path == ".gitattributes" || path.ends_with(b"/.gitattributes")
}

/// Whether files and blobs are the same bytes in this checkout, so that reading it needs no git. Where it is not so
/// (conversions, filters, sparse checkouts, configuration of its own), git itself is asked.
///
/// # Errors
/// When a file of attributes cannot be looked at.
pub(super) fn is_plain(gix: &gix::Repository, index: &Index) -> Result<bool> {
    Ok(index.is_plain() && has_plain_config(gix) && !has_attributes(gix)?)
}

/// No setting changes what is compared, and none differs between worktrees.
fn has_plain_config(gix: &gix::Repository) -> bool {
    let config = gix.config_snapshot();
    let is = |key: &str, default: bool| config.try_boolean(key).ok().map(|value| value.unwrap_or(default));
    let off = ["core.autocrlf", "core.ignoreCase", "core.precomposeUnicode", "core.sparseCheckout"];
    let on = ["core.fileMode", "core.symlinks"];
    off.iter().all(|key| is(key, false) == Some(false))
        && on.iter().all(|key| is(key, true) == Some(true))
        && is("extensions.worktreeConfig", false) == Some(false)
        && config.string("attr.tree").is_none()
        && config.plumbing().sections_by_name("includeIf").is_none_or(|mut sections| sections.next().is_none())
}

/// Attributes beside those in the tree: the user's, the system's, the repository's.
fn has_attributes(gix: &gix::Repository) -> Result<bool> {
    let mut paths = gix.attribute_global_paths().map_err(|e| Error::failed("config", chain(&e)))?;
    paths.push(gix.common_dir().join("info/attributes"));
    for path in paths {
        if fs_err::metadata(&path).map_or_else(|e| !files::is_absent(&e), |found| found.len() > 0) {
            return Ok(true);
        }
    }
    Ok(false)
}
