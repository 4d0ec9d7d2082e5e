//! Private folders, and links in them to what is not ours.

use std::path::{Path, PathBuf};

use super::interrupt::Folder;
use crate::error::Result;

/// Where [`memory_dir`] and [`temporary_dir`] make their folders.
pub fn places() -> Vec<PathBuf> {
    let memory = cfg!(target_os = "linux").then(|| PathBuf::from("/dev/shm"));
    memory.into_iter().chain([std::env::temp_dir()]).collect()
}

/// A fresh folder in memory where the system has such a place, deleted when it is dropped or this process ends. There may be little room.
pub fn memory_dir(prefix: &str) -> Option<Folder> {
    let place = Path::new("/dev/shm");
    if cfg!(target_os = "linux") && place.is_dir() { private_dir(prefix, place).ok() } else { None }
}

/// A fresh folder in the system's temporary directory, deleted when it is dropped or this process ends.
///
/// # Errors
/// When it cannot be made.
pub fn temporary_dir(prefix: &str) -> Result<Folder> {
    private_dir(prefix, &std::env::temp_dir())
}

fn private_dir(prefix: &str, place: &Path) -> Result<Folder> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        Ok(Folder::new(builder.permissions(PermissionsExt::from_mode(0o700)).tempdir_in(place)?))
    }
    #[cfg(not(unix))]
    Ok(Folder::new(builder.tempdir_in(place)?))
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
