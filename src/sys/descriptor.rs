//! Files told by their descriptor, not by their name.

use std::path::Path;

use rustix::fs::{CWD, RenameFlags};

use crate::error::{Error, Result};

/// Whether `path` still is the file that is open here.
///
/// # Errors
/// When either cannot be looked at; a `path` that is not there is no error.
pub fn is_still(path: &Path, file: &fs_err::File) -> Result<bool> {
    let told = |e: rustix::io::Errno| Error::failed("io", format!("cannot look at '{}': {e}", path.display()));
    let open = rustix::fs::fstat(file).map_err(told)?;
    match rustix::fs::lstat(path) {
        Ok(now) => Ok((now.st_dev, now.st_ino) == (open.st_dev, open.st_ino)),
        Err(rustix::io::Errno::NOENT) => Ok(false),
        Err(error) => Err(told(error)),
    }
}

/// Swap two names in one step.
///
/// # Errors
/// When the file system cannot, or one of them is not there.
pub fn exchange(one: &Path, other: &Path) -> Result<()> {
    rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
        .map_err(|e| Error::failed("io", format!("cannot exchange '{}': {e}", one.display())))
}
