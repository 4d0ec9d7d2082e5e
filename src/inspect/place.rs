//! Where a worktree is: present, purged, missing, or something else.
//!
//! *Purged* needs a reason to believe that the place can be seen and the thing is gone; everything that is away without one
//! is *missing*: an unmounted disk, a half-done move, another machine's path.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;

use super::files::{self, Kind, full};
use super::reflog;
use super::worktree::Scene;
use crate::error::Result;
use crate::model::{Fact, Place, Registration, Timestamp, shell};
use crate::sys::owner::same_owner;
use crate::sys::tree::stat;

/// Older than this, a purge in a temp root needs no reboot as an explanation.
const OLD: std::time::Duration = std::time::Duration::from_secs(7 * 24 * 3600);

const TEMP_ROOTS: &[&str] = &["/tmp", "/var/tmp", "/private/tmp", "/var/folders"];

/// Where the worktrees of all registrations are, judged together: when more than half of them (and at least three) are
/// away without a parent directory, none of those is purged. In the order of `scene.registrations`.
pub fn places(scene: Scene<'_>) -> Vec<Fact<Place>> {
    let mut moved = Moved::default();
    let seen: Vec<Result<Seen>> = scene.registrations.iter().map(|r| look(scene, r, &mut moved)).collect();
    let orphans = seen.iter().filter(|s| matches!(s, Ok(Seen::NoParent(_)))).count();
    let out_of_sight = orphans >= 3 && orphans * 2 > seen.len();
    let settle = |seen| match seen {
        Seen::Settled(place) => place,
        Seen::NoParent(_) if out_of_sight => missing(
            format!("{orphans} of {} worktrees are away with their parent directories", scene.registrations.len()),
            "mount what holds them, or run where they can be seen",
        ),
        Seen::NoParent(place) => place,
    };
    seen.into_iter().map(|s| s.map(settle).into()).collect()
}

enum Seen {
    Settled(Place),
    /// Away, and so is the parent directory; the place if most others are in sight.
    NoParent(Place),
}

fn missing(why: impl Into<String>, remedy: impl Into<String>) -> Place {
    Place::Missing { why: why.into(), remedy: remedy.into() }
}

fn look(scene: Scene<'_>, registration: &Registration, moved: &mut Moved) -> Result<Seen> {
    if stat(&registration.git_dir)?.is_some_and(|found| found.is_link()) {
        let why = format!("its registration '{}' is a link", registration.git_dir.display());
        return Ok(Seen::Settled(Place::NotOurs(why)));
    }
    let link = fs_err::read(registration.git_dir.join("gitdir"))?;
    if is_foreign(link.trim_ascii()) {
        let why = format!("'{}' is a path of another system", link.trim_ascii().as_bstr());
        return Ok(Seen::Settled(missing(why, "git worktree repair, on the system that it belongs to")));
    }
    let Some(path) = &registration.path else {
        let file = registration.git_dir.join("gitdir");
        return Err(crate::error::Error::failed("gitdir", format!("'{}' names no worktree", file.display())));
    };
    let Some(root) = stat(path)? else { return away(scene, registration, path, moved) };
    Ok(Seen::Settled(if root.is_link() {
        Place::NotOurs(format!("'{}' is a link", path.display()))
    } else if !root.is_dir() {
        Place::NotOurs(format!("'{}' is not a directory", path.display()))
    } else {
        occupied(scene, registration, path)?
    }))
}

/// `C:/…`, `\\host\…`: written by git for Windows.
fn is_foreign(path: &[u8]) -> bool {
    let drive = path.len() > 2 && path[0].is_ascii_alphabetic() && path[1] == b':' && matches!(path[2], b'/' | b'\\');
    drive || path.starts_with(br"\\")
}

/// There is a directory at the path: is it ours?
fn occupied(scene: Scene<'_>, registration: &Registration, path: &Path) -> Result<Place> {
    let link = path.join(".git");
    let Some(found) = stat(&link)? else {
        // A volume mounted at the worktree itself leaves just this when it is away.
        let known = is_below(path, &temp_roots(scene)) || is_session_root(scene, path);
        return Ok(if !known && files::list(path)?.is_empty() {
            let why = format!("'{}' is empty and may be an unmounted mount point", path.display());
            missing(why, "mount it, or remove the empty directory")
        } else if has_only_directories(path)? {
            Place::Purged("only empty directories are left".into())
        } else {
            Place::NotOurs(format!("'{}' has files but no '.git'", path.display()))
        });
    };
    if !found.is_file() {
        return Ok(Place::NotOurs(format!("'{}' is not the '.git' file of a linked worktree", link.display())));
    }
    Ok(match names(&link)? {
        None => Place::NotOurs(format!("'{}' names no repository", link.display())),
        Some(named) if same(&named, &registration.git_dir)? => Place::Present,
        Some(named) => {
            Place::NotOurs(format!("'{}' names '{}', not this registration", link.display(), named.display()))
        }
    })
}

/// The git directory that a `.git` file names, absolute; `None`: it names none.
///
/// # Errors
/// When it cannot be read.
pub fn names(link: &Path) -> Result<Option<PathBuf>> {
    let text = fs_err::read(link)?;
    let Some(named) = text.strip_prefix(b"gitdir:") else { return Ok(None) };
    let named = named.trim_ascii().as_bstr();
    link.parent().filter(|_| !named.is_empty()).map(|dir| full(dir, named)).transpose()
}

/// Whether both are the same directory, however they are spelled; what does not exist is not.
fn same(named: &Path, git_dir: &Path) -> Result<bool> {
    if named == git_dir {
        return Ok(true);
    }
    match fs_err::canonicalize(named) {
        Ok(named) => Ok(named == fs_err::canonicalize(git_dir)?),
        Err(error) if files::is_absent(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn has_only_directories(dir: &Path) -> Result<bool> {
    for (name, kind) in files::list(dir)? {
        if kind != Kind::Directory || !has_only_directories(&full(dir, name.as_ref())?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Nothing is at the path.
fn away(scene: Scene<'_>, registration: &Registration, path: &Path, moved: &mut Moved) -> Result<Seen> {
    let canonical = scene.repo.path().parent();
    for dir in [path.parent(), canonical].into_iter().flatten() {
        if let Some(there) = moved.find(dir, &registration.git_dir)? {
            let remedy = format!("git worktree repair {}", shell::path(&there));
            return Ok(Seen::Settled(missing(format!("it was moved to '{}'", there.display()), remedy)));
        }
    }
    let parent = path.parent().unwrap_or(path);
    let roots = temp_roots(scene);
    match fs_err::metadata(parent) {
        Ok(found) if found.is_dir() => {
            let empty = files::list(parent)?.is_empty();
            let known = is_below(parent, &roots) || is_session_root(scene, parent);
            // `/tmp` has the same name in every mount namespace: that it is there says nothing about what was in it.
            let elsewhere = scene.host.confined.as_ref().filter(|_| roots.iter().any(|root| root == parent));
            Ok(Seen::Settled(if let Some(confined) = elsewhere {
                missing(confined.clone(), "run on the host")
            } else if empty && !known {
                let why = format!("'{}' is empty and may be an unmounted mount point", parent.display());
                missing(why, "mount it, or 'git worktree lock' it")
            } else {
                Place::Purged("the directory is gone, its parent directory is there".into())
            }))
        }
        Ok(_) => Ok(Seen::Settled(missing(format!("'{}' is not a directory", parent.display()), "put it back"))),
        Err(error) if files::is_absent(&error) => Ok(Seen::NoParent(orphan(scene, registration, path, &roots)?)),
        Err(error) => Err(error.into()),
    }
}

/// Not even the parent directory is there: purged only where a temp cleaner can have taken both.
fn orphan(scene: Scene<'_>, registration: &Registration, path: &Path, roots: &[PathBuf]) -> Result<Place> {
    let remedy = "mount it, 'git worktree repair' or 'git worktree lock' it";
    if !is_below(path, roots) {
        return Ok(missing("its parent directory is away too", remedy));
    }
    if let Some(confined) = &scene.host.confined {
        return Ok(missing(confined.clone(), "run on the host"));
    }
    let newest = newest(scene, registration)?;
    let booted = scene.host.booted_at.is_some_and(|boot| newest < boot);
    let old = scene.host.now.duration_since(newest) > jiff::SignedDuration::try_from(OLD).unwrap_or_default();
    Ok(if booted || old {
        let how = if booted { "before this machine booted" } else { "over 7 days ago" };
        Place::Purged(format!("gone with its parent directory from a temporary folder, last used {how}"))
    } else {
        missing("its parent directory is away too, and it was in use lately", remedy)
    })
}

/// The newest sign of life that the repository itself has: reflog entries and the registration's creation.
fn newest(scene: Scene<'_>, registration: &Registration) -> Result<Timestamp> {
    let mut newest = crate::discover::created(registration)?;
    let logs = scene.repo.common_dir().join("logs");
    let of_branches = registration.names.iter().map(|(name, _)| full(&logs, name.as_ref()));
    for log in of_branches.chain([Ok(registration.git_dir.join("logs/HEAD"))]) {
        newest = reflog::read(&log?)?.iter().map(|entry| entry.time).fold(newest, Timestamp::max);
    }
    Ok(newest)
}

fn temp_roots(scene: Scene<'_>) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = TEMP_ROOTS.iter().map(PathBuf::from).collect();
    roots.extend(std::env::var_os("TMPDIR").map(PathBuf::from).filter(|p| p.is_absolute()));
    roots.extend(scene.policy.purged_roots.iter().cloned());
    // On macOS `/var` is a link: the registered path may be spelled either way.
    let resolved: Vec<PathBuf> = roots.iter().filter_map(|root| fs_err::canonicalize(root).ok()).collect();
    roots.extend(resolved);
    roots.retain(|root| root.parent().is_some());
    roots
}

fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

fn is_session_root(scene: Scene<'_>, path: &Path) -> bool {
    is_below(path, &crate::lease::session_folders()) || scene.policy.is_under_root(path)
}

/// Linked worktrees by the registration that their `.git` names, for each folder that was looked into.
#[derive(Default)]
struct Moved(HashMap<PathBuf, HashMap<PathBuf, PathBuf>>);

impl Moved {
    /// The worktree in `dir` whose `.git` names the registration.
    fn find(&mut self, dir: &Path, git_dir: &Path) -> Result<Option<PathBuf>> {
        if !self.0.contains_key(dir) {
            self.0.insert(dir.to_owned(), linked_worktrees(dir, git_dir)?);
        }
        let git_dir = fs_err::canonicalize(git_dir)?;
        Ok(self.0.get(dir).and_then(|found| found.get(&git_dir)).cloned())
    }
}

fn linked_worktrees(dir: &Path, git_dir: &Path) -> Result<HashMap<PathBuf, PathBuf>> {
    let mut found = HashMap::new();
    for (name, kind) in files::list(dir)? {
        if kind != Kind::Directory {
            continue;
        }
        let there = full(dir, name.as_ref())?;
        let link = there.join(".git");
        let named = match stat(&link) {
            Ok(Some(meta)) if meta.is_file() => names(&link),
            Ok(_) => continue,
            Err(error) => Err(error),
        };
        match named {
            Ok(Some(named)) => {
                if let Ok(named) = fs_err::canonicalize(named) {
                    found.insert(named, there);
                }
            }
            Ok(None) => {}
            // Another user's closed directory (there are always some in `/tmp`) cannot be our worktree.
            Err(_) if !same_owner(&there, git_dir)? => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}
