//! Deleting what is the program's own: folders of operations that nothing needs, and what killed runs left.

use std::path::Path;

use crate::error::{Error, Result};
use crate::sys::tree::{self, Class, Entry, Snapshot};

/// Delete a file or folder that a killed run left: half of a file, or copies.
///
/// # Errors
/// When it cannot be deleted.
pub fn sweep(path: &Path) -> Result<()> {
    match tree::stat(path)? {
        None => Ok(()),
        Some(found) if found.is_dir() => remove_folder(path),
        Some(_) => Ok(fs_err::remove_file(path)?),
    }
}

/// Delete a folder that is all our own.
pub(super) fn remove_folder(dir: &Path) -> Result<()> {
    let found = tree::walk(dir, |_, _| true)?;
    let class = |is_dir: bool| if is_dir { Class::Directory } else { Class::Saved };
    let entries =
        found.entries.into_iter().map(|(path, stat)| Entry { path, stat, class: class(stat.is_dir()) }).collect();
    let left = tree::delete_proved(dir, &Snapshot { root: found.root, entries })?;
    match left.failed.first() {
        Some((path, why)) => Err(Error::failed("io", format!("cannot delete '{}/{path}': {why}", dir.display()))),
        None => Ok(()),
    }
}
