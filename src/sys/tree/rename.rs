//! Renaming a directory without ever replacing something.

use std::path::Path;

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};

use crate::error::{Error, Result};

/// Rename a directory, replacing nothing (`renameat2` with `RENAME_NOREPLACE`). Looking first and renaming then could
/// replace what appears in between, so where the file system cannot do it in one step, it is not done.
///
/// # Errors
/// `exists` when the target exists; `rename` when the file system cannot do it or refuses.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub fn rename_no_replace(from: &Path, to: &Path) -> Result<()> {
    let Err(error) = renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) else {
        return Ok(());
    };
    let (from, to) = (from.display(), to.display());
    Err(match error {
        Errno::EXIST | Errno::NOTEMPTY => {
            Error::failed("exists", format!("cannot rename '{from}' to '{to}': it exists"))
        }
        Errno::XDEV => {
            Error::failed("rename", format!("cannot rename '{from}' to '{to}': not on the same file system"))
        }
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => Error::failed(
            "rename",
            format!("cannot rename '{from}' to '{to}': its file system cannot rename without replacing ({error})"),
        )
        .hint("git worktree move it to a local file system first"),
        error => Error::failed("rename", format!("cannot rename '{from}' to '{to}': {error}")),
    })
}

/// Not on this system: there is no rename that never replaces.
///
/// # Errors
/// Always.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub fn rename_no_replace(from: &Path, _to: &Path) -> Result<()> {
    Err(Error::failed(
        "rename",
        format!("cannot rename '{}': this system cannot rename without replacing", from.display()),
    ))
}
