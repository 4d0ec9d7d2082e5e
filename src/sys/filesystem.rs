//! Where a path's bytes are: on this machine, or on one that others write to as well.

use std::path::Path;

use crate::error::{Error, Result};

/// File systems that only this machine writes to, by the magic number of `statfs(2)`. One that is not in the list (NFS,
/// SMB, FUSE, 9p, AFS, clusters, …) may be shared, so what is written in it may come from another machine.
#[cfg(target_os = "linux")]
const LOCAL: &[u32] = &[
    0x0000_EF53, // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683E, // btrfs
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
    0x794C_7630, // overlayfs
    0x2FC1_2FC1, // zfs
    0xCA45_1A4E, // bcachefs
    0xF2F5_2010, // f2fs
    0x3153_464A, // jfs
    0x5265_4973, // reiserfs
    0x0000_3434, // nilfs
    0x0000_F15F, // ecryptfs
    0x0000_4D44, // msdos, vfat
    0x2011_BAB0, // exfat
    0x5346_544E, // ntfs
    0x7366_746E, // ntfs3
    0x0000_482B, // hfs+
];

/// Where the kernel shows itself: nobody keeps anything there.
const KERNEL: &[&str] = &["/proc", "/sys", "/dev"];

/// Whether this is the root of what the kernel shows of itself.
pub fn is_of_the_kernel(path: &Path) -> bool {
    KERNEL.iter().any(|place| path == Path::new(place))
}

/// Whether a path is on a file system that only this machine writes to. Of what is not there, the nearest directory
/// above it that is.
///
/// # Errors
/// When it cannot be told.
pub fn is_local(path: &Path) -> Result<bool> {
    for above in path.ancestors().filter(|above| !above.as_os_str().is_empty()) {
        match rustix::fs::statfs(above) {
            Ok(kind) => return Ok(is_local_kind(&kind)),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
            Err(error) => {
                return Err(Error::failed(
                    "io",
                    format!("cannot tell the file system of '{}': {error}", above.display()),
                ));
            }
        }
    }
    Err(Error::failed("io", format!("cannot tell the file system of '{}'", path.display())))
}

#[cfg(target_os = "linux")]
fn is_local_kind(kind: &rustix::fs::StatFs) -> bool {
    // The number is a signed or unsigned word of the machine's size; its lower half is the magic.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::unnecessary_cast)]
    LOCAL.contains(&(kind.f_type as u32))
}

#[cfg(target_vendor = "apple")]
fn is_local_kind(kind: &rustix::fs::StatFs) -> bool {
    // MNT_LOCAL of <sys/mount.h>.
    kind.f_flags & 0x1000 != 0
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn is_local_kind(_kind: &rustix::fs::StatFs) -> bool {
    false
}
