//! A kernel file lock: a crash frees it.

use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};

/// Held until dropped.
#[derive(Debug)]
pub struct Lock {
    _file: fs_err::File,
}

/// The exclusive lock of the file at `path` (made if absent, with its directory), waiting at most `patience`.
///
/// # Errors
/// `lock-busy` (128) when another process holds it for longer.
pub fn exclusive(_path: &Path, _patience: Duration) -> Result<Lock> {
    Err(Error::fatal("lock-busy", "not written yet"))
}
