//! Files that must be whole after a crash.

use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use fs_err::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::{Mode, OFlags, RawMode};
use rustix::io::Errno;

use crate::error::{Error, Result};

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whoever the umask allows.
    Umask,
    /// The same, and may run it.
    Program,
    /// The owner only.
    Owner,
}

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Write a file so that, whenever the machine stops, it has either its old content or the new one: a new file beside it,
/// synced, renamed over it, the directory synced. A link at `path` is replaced, never followed.
///
/// # Errors
/// When any of that fails; the old content is then untouched, or the new one is in place but perhaps not yet on disk.
pub fn write_atomically(path: &Path, bytes: &[u8], access: Access) -> Result<()> {
    let directory = parent(path)?;
    let (temporary, mut file) = create_beside(path, directory, access)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs_err::rename(&temporary, path))
        .map_err(Error::from);
    if written.is_err() {
        // The error that matters is the first one; a file left behind harms nobody.
        let _ = fs_err::remove_file(&temporary);
    }
    written.and_then(|()| fsync_dir(directory))
}

/// The content of a file; `None` where there is none.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs_err::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Remove a file, unless it is gone.
///
/// # Errors
/// When it cannot be removed.
pub fn remove(path: &Path) -> Result<()> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Make a directory with these permission bits; one that is there already stays as it is.
///
/// # Errors
/// When it cannot be made, or something else is there, a link to a directory included.
pub fn make_dir(path: &Path, mode: u32) -> Result<()> {
    match rustix::fs::mkdir(path, Mode::from_raw_mode(mode as RawMode & 0o7777)) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::EXIST) if super::tree::stat(path)?.is_some_and(|found| found.is_dir()) => Ok(()),
        Err(error) => Err(Error::failed("io", format!("cannot make '{}': {error}", path.display()))),
    }
}

/// Give a directory the permission bits of `mode`; one that is not there, or is something else, needs none.
///
/// # Errors
/// When they cannot be changed.
pub fn set_mode(directory: &Path, mode: u32) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let failed = |e: Errno| Error::failed("io", format!("cannot set the mode of '{}': {e}", directory.display()));
    match rustix::fs::open(directory, flags, Mode::empty()) {
        Ok(opened) => rustix::fs::fchmod(opened, Mode::from_raw_mode((mode & 0o7777) as RawMode)).map_err(failed),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// Make the names in a directory durable.
///
/// # Errors
/// When it cannot be opened or synced.
pub fn fsync_dir(path: &Path) -> Result<()> {
    Ok(fs_err::File::open(path)?.sync_all()?)
}

fn parent(path: &Path) -> Result<&Path> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(parent) => Ok(parent),
        None => Err(Error::failed("io", format!("'{}' is no file", path.display()))),
    }
}

fn create_beside(path: &Path, directory: &Path, access: Access) -> Result<(PathBuf, fs_err::File)> {
    let mode = match access {
        Access::Umask => 0o666,
        Access::Program => 0o777,
        Access::Owner => 0o600,
    };
    loop {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}-{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed)));
        let temporary = directory.join(name);
        match fs_err::OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            // Left by a killed run that had this pid.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
}
