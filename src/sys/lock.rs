//! A kernel file lock: a crash frees it.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::tree;
use crate::error::{Error, Result};

/// How long to wait between two attempts.
const POLL: Duration = Duration::from_millis(20);

/// Held until dropped.
#[derive(Debug)]
pub struct Lock {
    _file: fs_err::File,
}

/// The exclusive lock of the file at `path` (made if absent, with its directory), waiting at most `patience`.
///
/// # Errors
/// `lock-busy` (128) when another process holds it for longer, `read-only` (128) when the file cannot be made here.
pub fn exclusive(path: &Path, patience: Duration) -> Result<Lock> {
    let mut left = patience;
    loop {
        let file = open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // A lock on a file that someone deleted meanwhile keeps nobody out.
            Ok(()) if is_still(path, &file)? => return Ok(Lock { _file: file }),
            Ok(()) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) if left.is_zero() => {
                return Err(Error::fatal("lock-busy", format!("'{}' is locked by another run", path.display()))
                    .hint("wait for the other git shadow to end; its lock ends with its process"));
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                let pause = POLL.min(left);
                std::thread::sleep(pause);
                left -= pause;
            }
            Err(error) => return Err(Error::fatal("lock", format!("cannot lock '{}': {error}", path.display()))),
        }
    }
}

/// Whether another process holds the lock just now; nothing is made.
///
/// # Errors
/// When the file cannot be opened.
pub fn is_held(path: &Path) -> Result<bool> {
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(Error::failed("lock", format!("cannot look at the lock '{}': {error}", path.display()))),
    }
}

fn open(path: &Path) -> Result<fs_err::File> {
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let made = match path.parent() {
        Some(parent) => fs_err::create_dir_all(parent),
        None => Ok(()),
    };
    made.and_then(|()| {
        fs_err::OpenOptions::new().read(true).write(true).create(true).truncate(false).custom_flags(nofollow).open(path)
    })
    .map_err(|error| {
        let message = format!("cannot lock: {error}");
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::fatal("read-only", message)
                .hint("this needs a repository that can be written; 'git shadow list' and 'git shadow prune-sessions -n' only read"),
            _ => Error::fatal("lock", message),
        }
    })
}

fn is_still(path: &Path, file: &fs_err::File) -> Result<bool> {
    let locked = tree::stat_of(file)?;
    Ok(tree::stat(path)?.is_some_and(|now| (now.dev, now.ino) == (locked.dev, locked.ino)))
}
