//! Who owns a file.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::error::Result;

/// The user that this process acts for.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether it is this user's, and nobody else can write it.
pub fn is_private(found: &std::fs::Metadata) -> bool {
    found.uid() == user() && found.mode() & 0o022 == 0
}

/// Whether the same user owns both, links not followed.
///
/// # Errors
/// When one of them cannot be looked at.
pub fn same_owner(one: &Path, other: &Path) -> Result<bool> {
    Ok(fs_err::symlink_metadata(one)?.uid() == fs_err::symlink_metadata(other)?.uid())
}
