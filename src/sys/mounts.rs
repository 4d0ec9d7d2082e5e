//! The mount table.

use std::path::PathBuf;

use crate::error::Result;

/// Every mount point as this process sees it.
///
/// # Errors
/// When the table cannot be read.
pub fn points() -> Result<Vec<PathBuf>> {
    Ok(Vec::new())
}
