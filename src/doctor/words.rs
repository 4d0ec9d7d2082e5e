//! Words that several findings need.

use std::path::{Path, PathBuf};

/// Where something is out of the way, beside where it is.
pub(super) fn aside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{}.aside", name.trim_start_matches('.')))
}

/// `1 path`, `2 paths`.
pub(super) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
