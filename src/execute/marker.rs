//! Our own `locked` file in a registration: from the moment it is written, neither `git worktree prune` nor `gc` nor
//! `worktree add` takes the registration, and it says whose it is.

use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::error::{Error, Result};
use crate::journal::files;
use crate::sys::tree::rename_no_replace;
use crate::sys::{descriptor, file};

/// Where the marker is written before it takes its place.
pub(super) const BESIDE: &str = "locked.git-shadow";

/// The marker, with a descriptor on it: `git worktree unlock` and `add` with two `-f` can take it away.
#[derive(Debug)]
pub(super) struct Marker {
    path: PathBuf,
    file: fs_err::File,
}

/// What the marker of an operation says.
fn text(operation: &str) -> String {
    format!("git-shadow {operation}")
}

/// What `undo` writes into a registration that it puts back.
fn undo_text(operation: &str) -> String {
    format!("git-shadow undo {operation}")
}

impl Marker {
    /// Write it. `passes` is the lock that the release passes, which must be exactly what is there.
    pub(super) fn write(git_dir: &Path, operation: &str, passes: Option<&BStr>) -> Result<Marker> {
        // Filled beside and then put in place: a lock that does not say whose it is would never be taken away.
        let beside = git_dir.join(BESIDE);
        let marker =
            Marker { path: git_dir.join("locked"), file: files::write_aside(&beside, text(operation).as_bytes())? };
        let Some(expected) = passes else {
            if let Err(error) = rename_no_replace(&beside, &marker.path) {
                fs_err::remove_file(&beside)?;
                let raced = || Error::failed("raced", "it was locked meanwhile");
                return Err(if error.code == "exists" { raced() } else { error });
            }
            file::fsync_dir(git_dir)?;
            return Ok(marker);
        };
        descriptor::exchange(&beside, &marker.path)?;
        if fs_err::read(&beside)? != expected.as_bytes() {
            // Someone locked it anew meanwhile: theirs goes back.
            descriptor::exchange(&beside, &marker.path)?;
            fs_err::remove_file(&beside)?;
            return Err(Error::failed("raced", "the lock changed"));
        }
        fs_err::remove_file(&beside)?;
        file::fsync_dir(git_dir)?;
        Ok(marker)
    }

    /// Whether the registration still has this very file.
    pub(super) fn is_there(&self) -> Result<bool> {
        descriptor::is_still(&self.path, &self.file)
    }
}

/// Write the lock that undoing this operation leaves, in place of any other.
pub(super) fn write_undo(git_dir: &Path, operation: &str) -> Result<()> {
    let beside = git_dir.join(BESIDE);
    files::write_aside(&beside, undo_text(operation).as_bytes())?;
    fs_err::rename(&beside, git_dir.join("locked"))?;
    file::fsync_dir(git_dir)
}

/// The lock reason in a registration; `None` where there is none.
pub(super) fn read(git_dir: &Path) -> Result<Option<BString>> {
    Ok(file::read(&git_dir.join("locked"))?.map(BString::from))
}

/// Whether a registration has the marker of this operation.
pub(super) fn is_of(git_dir: &Path, operation: &str) -> Result<bool> {
    Ok(read(git_dir)?.is_some_and(|found| found == text(operation)))
}

/// Whether a registration has the lock that undoing this operation leaves.
pub(super) fn is_undo_of(git_dir: &Path, operation: &str) -> Result<bool> {
    Ok(read(git_dir)?.is_some_and(|found| found == undo_text(operation)))
}

/// Put the lock back as it was before [`Marker::write`]. Anything but our own marker is left alone.
pub(super) fn give_back(git_dir: &Path, operation: &str, lock: Option<&BStr>) -> Result<()> {
    // What a run leaves that stopped before it was in place.
    file::remove(&git_dir.join(BESIDE))?;
    if !is_of(git_dir, operation)? {
        return Ok(());
    }
    match lock {
        Some(reason) => files::restore(&git_dir.join("locked"), reason),
        None => {
            fs_err::remove_file(git_dir.join("locked"))?;
            file::fsync_dir(git_dir)
        }
    }
}
