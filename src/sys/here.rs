//! Where the invoking shell is, by identity: the same directory can be spelled in many ways.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::tree;
use crate::error::{Error, Result};

/// Device and inode of all that is here: the directory a command starts in, the current directory, `$PWD`, and
/// everything above them. A git that was sent elsewhere (`git -C`, an alias) has another current directory than the
/// shell that called it.
///
/// # Errors
/// When a directory above cannot be looked at.
pub fn chain(start: &Path) -> Result<Vec<(u64, u64)>> {
    let mut chain = upward(open(CWD, ".").map_err(|e| failed(&e))?)?;
    chain.extend(upward(open(CWD, start).map_err(|e| failed(&e))?)?);
    if let Some(shell) = std::env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute()) {
        // It may be gone or closed to this user: what can be reached of it is what could be released.
        if let Some(directory) = shell.ancestors().find_map(|path| open(CWD, path).ok()) {
            chain.extend(upward(directory)?);
        }
    }
    chain.sort_unstable();
    chain.dedup();
    Ok(chain)
}

/// From an open directory up to the root, where `..` is the directory itself.
fn upward(mut directory: OwnedFd) -> Result<Vec<(u64, u64)>> {
    let mut chain = Vec::new();
    let mut repeated = 0;
    loop {
        let now = tree::stat_of(&directory)?;
        // A directory that is mounted on its own child is the same for a step, too.
        repeated = if chain.last() == Some(&(now.dev, now.ino)) { repeated + 1 } else { 0 };
        if repeated > 8 {
            return Ok(chain);
        }
        chain.push((now.dev, now.ino));
        directory = open(&directory, "..").map_err(|e| failed(&e))?;
    }
}

fn open(at: impl AsFd, path: impl AsRef<Path>) -> rustix::io::Result<OwnedFd> {
    // It need not be readable.
    #[cfg(target_os = "linux")]
    let access = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let access = OFlags::RDONLY;
    openat(at, path.as_ref(), access | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn failed(error: &rustix::io::Errno) -> Error {
    Error::failed("io", format!("cannot tell the current directory: {error}"))
}
