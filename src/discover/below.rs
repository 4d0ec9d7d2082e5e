//! Canonical repositories below a directory: checkouts with their own repository, and bare ones.
//!
//! Linked worktrees and submodules have a `.git` file that leads into another repository; they are not canonical and
//! are not looked into. No link is followed. A checkout is looked into, since clones lie in clones (a home directory
//! may be one), a repository's own folders are not.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gix::bstr::ByteSlice as _;

use crate::error::Error;
use crate::sys::threads::{self, locked};
use crate::sys::{filesystem, owner};

/// Never the home of a canonical repository, and costly to walk: what package managers and builds fill, themselves with
/// clones among it. So is a directory with the tag of <https://bford.info/cachedir/> in it.
const SKIPPED: &[&str] =
    &["node_modules", "target", ".venv", "__pycache__", ".cache", ".cargo", ".rustup", ".npm", ".gradle", ".Trash"];

/// The mark of a cache directory.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// No longer than the path in a `.git` file can be.
const GIT_FILE: u64 = 8192;

/// What was found.
#[derive(Debug, Default)]
pub struct Below {
    /// Where a repository is: its checkout, or itself when it is bare; and its git directory.
    pub places: Vec<(PathBuf, PathBuf)>,
    /// Directories of this user that could not be read, and those that were asked for.
    pub failed: Vec<(PathBuf, Error)>,
    /// Directories of others that this user may not read.
    pub closed: Vec<PathBuf>,
}

/// Look below these directories, which are absolute and without links.
pub fn below(roots: &[PathBuf]) -> Below {
    let found = Mutex::new(Below::default());
    let start = roots.iter().map(|root| (root.clone(), true)).collect();
    threads::spread(threads::available(), start, |(dir, root): (PathBuf, bool), more| {
        let entries = match Entries::read(&dir) {
            Ok(entries) => entries,
            Err(error) => return locked(&found).unread(dir, root, error),
        };
        let step = entries.step(&dir);
        if let Some(git_dir) = step.repository {
            locked(&found).places.push((dir.clone(), git_dir));
        }
        if step.enter || root {
            let is_skipped = |name: &OsStr| name == ".git" || SKIPPED.iter().any(|skipped| name == *skipped);
            let below = entries.directories.iter().filter(|name| !is_skipped(name)).map(|name| dir.join(name));
            more.extend(below.filter(|path| !filesystem::is_of_the_kernel(path)).map(|path| (path, false)));
        }
    });
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.places.sort();
    found.places.dedup();
    found.closed.sort();
    found
}

impl Below {
    fn unread(&mut self, dir: PathBuf, root: bool, error: std::io::Error) {
        let kind = error.kind();
        if root {
            return self.failed.push((dir, error.into()));
        }
        match kind {
            // Gone meanwhile, or swapped for something else.
            ErrorKind::NotFound | ErrorKind::NotADirectory => {}
            ErrorKind::PermissionDenied if !owner::is_own(&dir) => self.closed.push(dir),
            // git cannot open what has so long a path either.
            ErrorKind::InvalidFilename => self.closed.push(dir),
            _ => self.failed.push((dir.clone(), Error::from(error).at(dir))),
        }
    }
}

/// What of a directory matters here.
#[derive(Debug, Default)]
struct Entries {
    directories: Vec<std::ffi::OsString>,
    git_file: bool,
    head: bool,
    cache: bool,
}

/// What to do with a directory.
#[derive(Debug, Default)]
struct Step {
    repository: Option<PathBuf>,
    enter: bool,
}

impl Entries {
    fn read(dir: &Path) -> std::io::Result<Entries> {
        let mut found = Entries::default();
        for entry in fs_err::read_dir(dir)? {
            let entry = entry?;
            let name = entry.file_name();
            // One that went meanwhile is no directory.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.directories.push(name);
                continue;
            }
            found.git_file |= name == ".git";
            found.head |= name == "HEAD";
            found.cache |= name == CACHE_TAG;
        }
        found.directories.sort();
        Ok(found)
    }

    fn has(&self, name: &str) -> bool {
        self.directories.iter().any(|directory| directory == name)
    }

    fn step(&self, dir: &Path) -> Step {
        if self.has(".git") {
            let git_dir = dir.join(".git");
            return Step { repository: holds_something(&git_dir).then_some(git_dir), enter: true };
        }
        if self.git_file {
            return of_git_file(dir);
        }
        if self.head && self.has("objects") && self.has("refs") {
            return Step { repository: Some(dir.to_owned()), enter: false };
        }
        Step { repository: None, enter: !self.cache }
    }
}

/// Whether it is a repository, if a damaged one; an empty `.git` is none. One that may not be read is told as such later.
fn holds_something(git_dir: &Path) -> bool {
    let there = |name: &str| fs_err::symlink_metadata(git_dir.join(name));
    let absent = |name: &str| there(name).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    !(absent("HEAD") && absent("objects") && absent("refs"))
}

/// A `.git` file names the repository of a linked worktree or a submodule, or one that is kept apart from its checkout
/// (`git init --separate-git-dir`). One that leads nowhere says nothing, and what is around it is a worktree that was.
fn of_git_file(dir: &Path) -> Step {
    let Some(git_dir) = named_in(dir) else { return Step::default() };
    let linked = fs_err::symlink_metadata(git_dir.join("commondir")).is_ok();
    if linked || is_of_a_submodule(&git_dir) || !holds_something(&git_dir) {
        return Step::default();
    }
    Step { repository: Some(git_dir), enter: true }
}

fn named_in(dir: &Path) -> Option<PathBuf> {
    let file = dir.join(".git");
    let found = fs_err::symlink_metadata(&file).ok()?;
    if !found.is_file() || found.len() > GIT_FILE {
        return None;
    }
    let text = fs_err::read(&file).ok()?;
    let named = text.strip_prefix(b"gitdir:")?.trim();
    fs_err::canonicalize(dir.join(gix::path::from_byte_slice(named).ok()?)).ok()
}

/// Whether it is in the `modules` of another repository, or of a worktree's registration.
fn is_of_a_submodule(git_dir: &Path) -> bool {
    let mut modules = git_dir.ancestors().filter(|above| above.file_name() == Some(OsStr::new("modules")));
    modules.any(|modules| modules.parent().is_some_and(|above| fs_err::symlink_metadata(above.join("HEAD")).is_ok()))
}
