//! A registration's files: copied before anything moves, compared when it has been moved.
//!
//! `modules/` (the repositories of submodules) is neither copied nor compared: a submodule with anything of its own
//! holds its worktree, and the directory moves along with the registration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gix::bstr::BString;

use super::marker::BESIDE;
use crate::error::Result;
use crate::journal::{files, of_path};
use crate::sys::file;
use crate::sys::tree::rename_no_replace;

/// What may differ between the copy and the registration: our marker, and what `git worktree repair` rewrites.
const OURS: &[&str] = &["locked", BESIDE, "gitdir"];

/// Every file of a registration, by its path below it.
pub(super) fn contents(git_dir: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    walk(git_dir, Path::new(""), &mut found)?;
    Ok(found)
}

fn walk(root: &Path, below: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    for entry in fs_err::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if path != Path::new("modules") {
                walk(root, &path, found)?;
            }
        } else if kind.is_file() {
            found.insert(path, fs_err::read(entry.path())?);
        } else if kind.is_symlink() {
            // A linked HEAD is old git's symbolic ref; it is kept as a new one.
            let target: Vec<u8> = of_path(&fs_err::read_link(entry.path())?).into();
            let is_ref = target.starts_with(b"refs/");
            found.insert(path, if is_ref { [b"ref: ".as_slice(), &target, b"\n"].concat() } else { target });
            // Anything else, as the socket of a file system monitor, has no bytes to keep.
        }
    }
    Ok(())
}

/// Save a copy, on the disk when this returns.
pub(super) fn save(contents: &BTreeMap<PathBuf, Vec<u8>>, to: &Path) -> Result<()> {
    fs_err::create_dir_all(to)?;
    let mut directories = vec![to.to_owned()];
    for (path, bytes) in contents {
        let path = to.join(path);
        if let Some(parent) = path.parent().filter(|parent| !directories.iter().any(|d| d == parent)) {
            fs_err::create_dir_all(parent)?;
            directories.push(parent.to_owned());
        }
        files::write_through(&path, bytes)?;
    }
    directories.iter().try_for_each(|directory| file::fsync_dir(directory))?;
    files::sync_parent(to)
}

/// Make a registration of a copy: whole, or not at all.
pub(super) fn rebuild(saved: &Path, to: &Path) -> Result<()> {
    let beside = to.with_file_name("rebuilt");
    for (path, bytes) in contents(saved)? {
        let path = beside.join(path);
        path.parent().map_or(Ok(()), fs_err::create_dir_all)?;
        files::restore(&path, &bytes)?;
    }
    rename_no_replace(&beside, to)?;
    files::sync_parent(to)
}

/// The first path in which a registration differs from its saved copy; `None`: they are the same.
pub(super) fn difference(saved: &Path, git_dir: &Path) -> Result<Option<BString>> {
    let (mut saved, mut now) = (contents(saved)?, contents(git_dir)?);
    for name in OURS {
        saved.remove(Path::new(name));
        now.remove(Path::new(name));
    }
    let changed = now.iter().find(|(path, bytes)| saved.get(*path) != Some(bytes)).map(|(path, _)| path);
    let gone = || saved.keys().find(|path| !now.contains_key(*path));
    Ok(changed.or_else(gone).map(|path| of_path(path)))
}
