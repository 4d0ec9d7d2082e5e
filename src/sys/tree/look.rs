//! `lstat` and what else the kernel says of an entry: its owner, and attributes that forbid to delete it.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::path::Arg;

use super::Stat;

/// An entry as it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) stat: Stat,
    pub(super) uid: u32,
    /// An attribute in words, for instance `immutable`; it binds root too.
    pub(super) attribute: Option<&'static str>,
    pub(super) mount: bool,
    /// How many names it has.
    pub(super) links: u64,
    /// What it takes on the disk, in bytes.
    pub(super) allocated: u64,
}

/// The unit in which allocation is told.
const BLOCK: u64 = 512;

/// The entry `name` of an open directory, a link not followed.
pub(super) fn at(dir: impl AsFd, name: impl Arg) -> Result<Look> {
    look(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// An open file itself.
pub(super) fn of(file: impl AsFd) -> Result<Look> {
    #[cfg(target_os = "linux")]
    return look(file, "", AtFlags::EMPTY_PATH);
    #[cfg(not(target_os = "linux"))]
    rustix::fs::fstat(file).map(from_stat)
}

/// Open the directory `name`, which must still be what was looked at, and no mount.
pub(super) fn enter(dir: impl AsFd, name: impl Arg, seen: &Look) -> Result<OwnedFd> {
    let fd = enter_mount(dir, name, seen)?;
    if of(&fd)?.mount { Err(Errno::XDEV) } else { Ok(fd) }
}

/// The same for one that may be a mount.
pub(super) fn enter_mount(dir: impl AsFd, name: impl Arg, seen: &Look) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let now = of(&fd)?;
    if (now.stat.dev, now.stat.ino) != (seen.stat.dev, seen.stat.ino) {
        return Err(Errno::STALE);
    }
    Ok(fd)
}

#[cfg(target_os = "linux")]
fn look(dir: impl AsFd, name: impl Arg, flags: AtFlags) -> Result<Look> {
    use rustix::fs::{StatxAttributes as Attribute, StatxFlags, StatxTimestamp, makedev, statx};

    let nanoseconds = |t: StatxTimestamp| i128::from(t.tv_sec) * 1_000_000_000 + i128::from(t.tv_nsec);
    let seen = statx(dir, name, flags | AtFlags::NO_AUTOMOUNT, StatxFlags::BASIC_STATS)?;
    if !StatxFlags::from_bits_retain(seen.stx_mask).contains(StatxFlags::BASIC_STATS - StatxFlags::ATIME) {
        // A file system that does not fill in what is compared cannot prove anything.
        return Err(Errno::OPNOTSUPP);
    }
    let attribute = if seen.stx_attributes.contains(Attribute::IMMUTABLE) {
        Some("immutable")
    } else if seen.stx_attributes.contains(Attribute::APPEND) {
        Some("append-only")
    } else {
        None
    };
    Ok(Look {
        stat: Stat {
            mode: u32::from(seen.stx_mode),
            size: seen.stx_size,
            mtime: nanoseconds(seen.stx_mtime),
            ctime: nanoseconds(seen.stx_ctime),
            dev: makedev(seen.stx_dev_major, seen.stx_dev_minor),
            ino: seen.stx_ino,
        },
        uid: seen.stx_uid,
        attribute,
        mount: seen.stx_attributes.contains(Attribute::MOUNT_ROOT),
        links: seen.stx_nlink.into(),
        allocated: seen.stx_blocks * BLOCK,
    })
}

#[cfg(not(target_os = "linux"))]
fn look(dir: impl AsFd, name: impl Arg, flags: AtFlags) -> Result<Look> {
    rustix::fs::statat(dir, name, flags).map(from_stat)
}

/// Without `statx`, mounts are told by their device alone.
#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_cast, clippy::cast_sign_loss)]
fn from_stat(seen: rustix::fs::Stat) -> Look {
    #[cfg(target_vendor = "apple")]
    let attribute = match seen.st_flags {
        // UF_IMMUTABLE and SF_IMMUTABLE, UF_APPEND and SF_APPEND of <sys/stat.h>.
        flags if flags & 0x0002_0002 != 0 => Some("immutable"),
        flags if flags & 0x0004_0004 != 0 => Some("append-only"),
        _ => None,
    };
    #[cfg(not(target_vendor = "apple"))]
    let attribute = None;
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Look {
        stat: Stat {
            mode: seen.st_mode as u32,
            size: seen.st_size as u64,
            mtime: nanoseconds(seen.st_mtime as i64, seen.st_mtime_nsec as i64),
            ctime: nanoseconds(seen.st_ctime as i64, seen.st_ctime_nsec as i64),
            dev: seen.st_dev as u64,
            ino: seen.st_ino as u64,
        },
        uid: seen.st_uid as u32,
        attribute,
        mount: false,
        links: seen.st_nlink as u64,
        allocated: seen.st_blocks as u64 * BLOCK,
    }
}
