//! What a tree takes on the disk: allocated blocks, as `du` counts them.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, Dir};
use rustix::io::Errno;

use super::failed;
use super::look::{self, Look};
use super::walk::unreadable;
use crate::error::Result;

/// Paths are no longer than this from the descriptor they count from, so that a tree may be of any depth.
const REACH: usize = 1024;

/// What was counted.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    /// The device of the root.
    pub device: u64,
    /// Bytes of all that has one name.
    pub bytes: u64,
    /// What has several: device, inode and bytes, each once.
    pub linked: Vec<(u64, u64, u64)>,
    /// What could not be read, so that it takes more than was counted: the first few, each in words.
    pub unread: Vec<String>,
}

/// How many unreadable things are named.
const NAMED: usize = 3;

/// Count a tree, its root too. No link is followed and no mount below the root is entered; what goes away meanwhile takes
/// nothing.
///
/// # Errors
/// When the root cannot be read.
pub fn usage(root: &Path) -> Result<Usage> {
    let seen = look::at(CWD, root).map_err(|e| failed("look at", root, e))?;
    let mut counted = Usage { device: seen.stat.dev, ..Usage::default() };
    counted.add(&seen);
    let fd = look::enter_mount(CWD, root, &seen).map_err(|e| failed("open", root, e))?;
    let mut open = vec![(Arc::new(fd), CString::default(), seen)];
    while let Some((base, path, seen)) = open.pop() {
        if let Err(error) = counted.directory(&base, &path, &seen, &mut open) {
            counted.missed(&path, error);
        }
    }
    counted.linked.sort_unstable();
    counted.linked.dedup();
    Ok(counted)
}

type Open = (Arc<OwnedFd>, CString, Look);

impl Usage {
    fn directory(
        &mut self,
        base: &Arc<OwnedFd>,
        path: &CString,
        seen: &Look,
        open: &mut Vec<Open>,
    ) -> Result<(), Errno> {
        let here = if path.is_empty() { base.clone() } else { Arc::new(look::enter(base, path, seen)?) };
        for entry in Dir::read_from(here.as_fd())? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let found = match look::at(here.as_fd(), name) {
                Ok(found) => found,
                Err(error) => {
                    self.missed(name, error);
                    continue;
                }
            };
            if found.mount || found.stat.dev != self.device {
                continue;
            }
            self.add(&found);
            if found.stat.is_dir() {
                let near = !path.is_empty() && path.count_bytes() < REACH;
                let (base, path) = if near { (base, joined(path, name)) } else { (&here, name.to_owned()) };
                open.push((base.clone(), path, found));
            }
        }
        Ok(())
    }

    fn add(&mut self, found: &Look) {
        if found.links > 1 && !found.stat.is_dir() {
            self.linked.push((found.stat.dev, found.stat.ino, found.allocated));
        } else {
            self.bytes += found.allocated;
        }
    }

    fn missed(&mut self, path: &std::ffi::CStr, error: Errno) {
        if !matches!(error, Errno::NOENT | Errno::STALE) && self.unread.len() < NAMED {
            self.unread.push(unreadable(path.to_bytes().into(), error).message);
        }
    }
}

fn joined(path: &CString, name: &std::ffi::CStr) -> CString {
    let whole =
        Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())).join(std::ffi::OsStr::from_bytes(name.to_bytes()));
    // Neither part holds a NUL.
    CString::new(whole.as_os_str().as_bytes()).unwrap_or_default()
}
