//! Files of the journal: written whole or not at all, and on the disk before the next step.

use std::io::Write as _;
use std::path::Path;

use fs_err::os::unix::fs::OpenOptionsExt as _;

use crate::error::{Error, Result};
use crate::sys::file;

/// Write `bytes` to `path`, readable by its owner only.
///
/// # Errors
/// When the directory cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    file::write_atomically(path, bytes, file::Access::Owner)
}

/// Give a file of git's this content, unless it has it: with the mode that git would give it.
///
/// # Errors
/// When it cannot be read or written.
pub fn restore(path: &Path, bytes: &[u8]) -> Result<()> {
    match fs_err::read(path) {
        Ok(now) if now == bytes => Ok(()),
        _ => file::write_atomically(path, bytes, file::Access::Umask),
    }
}

/// Write a new file and put it on the disk; its directory is the caller's to sync.
///
/// # Errors
/// When it exists, or cannot be written.
pub fn write_through(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    Ok(file.sync_all()?)
}

/// Write a file of git's at a place where nobody looks yet, over what a killed run left there; a rename of it, or of its
/// directory, puts it in place.
///
/// # Errors
/// When it cannot be written.
pub fn write_aside(path: &Path, bytes: &[u8]) -> Result<fs_err::File> {
    let mut file = fs_err::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
}

/// Write a value as JSON, as [`write`] does.
///
/// # Errors
/// As [`write`].
pub fn write_json<T: serde::Serialize>(path: &Path, value: &T) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|e| Error::failed("journal", e.to_string()))?;
    text.push(b'\n');
    write(path, &text)
}

/// What to do about a file that nobody can read any more.
fn aside(path: &Path) -> &'static str {
    if path.components().any(|part| part.as_os_str() == "operations") {
        "move that operation's folder aside if you do not need to take it back; its commits stay pinned"
    } else {
        "move that file aside; at worst something waits longer, or goes again that 'git shadow undo' brought back"
    }
}

/// Read a value of JSON; `None` when there is no such file.
///
/// # Errors
/// `corrupt-journal` (128) with the file's name when it cannot be read or understood.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let corrupt = |why: String| {
        Error::fatal("corrupt-journal", format!("cannot read the journal '{}': {why}", path.display()))
            .hint(aside(path))
    };
    match fs_err::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|e| corrupt(e.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(corrupt(error.to_string())),
    }
}

/// Put the entry of `path` in its directory on the disk.
///
/// # Errors
/// When the directory cannot be opened.
pub fn sync_parent(path: &Path) -> Result<()> {
    path.parent().map_or(Ok(()), file::fsync_dir)
}
