//! Directories by identity instead of spelling.

use std::path::Path;

use std::os::unix::fs::MetadataExt as _;

use crate::error::Result;

/// Device and inode of a directory and of all above it, links resolved.
///
/// # Errors
/// When one of them cannot be looked at.
pub fn ancestry(dir: &Path) -> Result<Vec<(u64, u64)>> {
    let identity = |path: &Path| {
        let meta = fs_err::metadata(path)?;
        Ok((meta.dev(), meta.ino()))
    };
    fs_err::canonicalize(dir)?.ancestors().map(identity).collect()
}
