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

/// Whether this user owns what is at a path, a link not followed; no when that cannot be told.
pub fn is_own(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|found| found.uid() == user())
}

/// Whether the same user owns both, links not followed.
///
/// # Errors
/// When one of them cannot be looked at.
pub fn same_owner(one: &Path, other: &Path) -> Result<bool> {
    Ok(fs_err::symlink_metadata(one)?.uid() == fs_err::symlink_metadata(other)?.uid())
}
