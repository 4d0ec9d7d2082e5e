//! Folders that only this user can look into.

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
