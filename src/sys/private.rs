//! Private folders, and links in them to what is not ours.

use std::path::Path;

use tempfile::TempDir;

use crate::error::Result;

/// A fresh folder in the system's temporary directory, deleted when it is dropped.
///
/// # Errors
/// When it cannot be made.
pub fn temporary_dir(prefix: &str) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        Ok(builder.permissions(PermissionsExt::from_mode(0o700)).tempdir()?)
    }
    #[cfg(not(unix))]
    Ok(builder.tempdir()?)
}

/// Another name for a file, which itself does not change.
///
/// # Errors
/// When it cannot be made.
pub fn link(file: &Path, name: &Path) -> Result<()> {
    #[cfg(unix)]
    fs_err::os::unix::fs::symlink(file, name)?;
    #[cfg(not(unix))]
    fs_err::hard_link(file, name)?;
    Ok(())
}
