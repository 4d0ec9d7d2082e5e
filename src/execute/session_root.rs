//! Session roots: deleted as journaled, made again by undo. What they hold is links and empty directories.

use std::path::{Path, PathBuf};

use fs_err::os::unix::fs::symlink;
use gix::bstr::{BString, ByteSlice as _};

use super::undo::TakenBack;
use crate::error::{Error, Result};
use crate::journal::host::{self, SessionRootIntent};
use crate::journal::{files, of_path, to_path};
use crate::model::{Timestamp, bytes};
use crate::sys::file::{make_dir, set_mode};
use crate::sys::tree::{self, Class, Entry, Snapshot};

/// Delete a session root: the journal first, then only what is in it now and was seen. What turns up meanwhile stays, with
/// its directories. `of_run`: the common directories of the repositories that the run was about.
///
/// # Errors
/// When it cannot be read, journaled or deleted.
pub fn delete(root: &Path, operation: &str, n: usize, of_run: &[PathBuf], at: Timestamp) -> Result<()> {
    let found = tree::walk(root, |_, _| true)?;
    let mut targets = Vec::new();
    let mut entries = Vec::new();
    for (path, stat) in found.entries {
        let class = if stat.is_dir() {
            Class::Directory
        } else if stat.is_link() {
            let target = fs_err::read_link(root.join(path.to_path_lossy()))?;
            targets.push((bytes::encode(&path), bytes::encode(&of_path(&target))));
            Class::Saved
        } else {
            return Err(Error::failed("raced", format!("'{}' has '{path}' now", root.display())));
        };
        entries.push(Entry { path, stat, class });
    }
    let snapshot = Snapshot { root: found.root, entries };
    let intent = SessionRootIntent {
        schema: "git-shadow.session-root.v1".into(),
        operation: operation.to_owned(),
        path: of_path(root),
        repositories: of_run.iter().map(|dir| bytes::encode(&of_path(dir))).collect(),
        snapshot,
        targets,
        at,
        undone: false,
    };
    host::add(n, &intent)?;
    let left = tree::delete_proved(root, &intent.snapshot)?;
    match (left.unproved.first(), left.failed.first()) {
        (None, None) => Ok(()),
        (Some(path), _) => Err(Error::failed("raced", format!("'{}' has '{path}' now", root.display()))),
        (None, Some((path, why))) => Err(Error::failed("io", format!("cannot delete '{path}': {why}"))),
    }
}

/// Make the session roots of an operation again, replacing nothing; what was restored and what was not, for people.
///
/// # Errors
/// `corrupt-journal` (128).
pub fn undo(operation: &str) -> Result<TakenBack> {
    let mut told = TakenBack::default();
    for (file, mut intent) in host::read(operation)? {
        if intent.undone {
            continue;
        }
        let shown = format!("session folder '{}'", intent.path);
        match make(&intent) {
            Ok(()) => {
                told.restored.push(shown);
                intent.undone = true;
                files::write_json(&file, &intent)?;
            }
            Err(error) => told.missed.push(format!("{shown}: {}", error.message)),
        }
    }
    Ok(told)
}

fn make(intent: &SessionRootIntent) -> Result<()> {
    let root = to_path(intent.path.as_bstr());
    make_dir(&root, OPEN)?;
    let mut made = vec![(root.clone(), intent.snapshot.root.mode)];
    for entry in &intent.snapshot.entries {
        let path = root.join(entry.path.to_path_lossy());
        if entry.class == Class::Directory {
            make_dir(&path, OPEN)?;
            made.push((path, entry.stat.mode));
        } else if let Some(target) = target(intent, &entry.path)
            && tree::stat(&path)?.is_none()
        {
            symlink(to_path(target.as_bstr()), &path)?;
        }
    }
    // From the inside out: a directory that may not be written comes last. The umask has no say in what was there.
    made.iter().rev().try_for_each(|(path, mode)| set_mode(path, *mode))
}

/// While what was in a directory is being made in it.
const OPEN: u32 = 0o700;

fn target(intent: &SessionRootIntent, path: &BString) -> Option<BString> {
    let name = bytes::encode(path);
    intent.targets.iter().find(|(of, _)| *of == name).and_then(|(_, target)| bytes::decode(target))
}
