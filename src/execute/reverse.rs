//! Putting back what was moved, from whatever state a run was stopped in. Nothing is ever replaced: where something
//! else has taken the place, everything stays with the operation.

use std::path::Path;

use super::{branch, exclude, marker, pins, registration};
use crate::error::{Error, Result};
use crate::git::{Repository, read_ref};
use crate::journal::{Item, Mark, Marker, WorktreeIntent, files, pin_prefix};
use crate::sys::tree::rename_no_replace;
use crate::sys::{clock, file, tree};

/// How a reversal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reversal {
    /// All is as it was.
    Back,
    /// Something else is in its place; why, and where everything waits.
    Stuck(String),
}

/// Put an item back that has not passed the commit point.
///
/// # Errors
/// When something cannot be read or moved: it stays open, for the next run.
pub(super) fn put_back(repo: &Repository, item: &mut Item, why: &str) -> Result<Reversal> {
    if let Some(worktree) = item.intent.worktree.clone()
        && let Some(taken) = restore(repo, item, &worktree)?
    {
        item.mark(Marker::Stuck, Mark::new(clock::now(), Some(taken.clone())))?;
        return Ok(Reversal::Stuck(taken));
    }
    item.mark(Marker::Reversed, Mark::new(clock::now(), Some(why.to_owned())))?;
    release_pins(repo, item)?;
    Ok(Reversal::Back)
}

/// What was pinned has its refs and reflogs again, so that the pins may go; unless a branch is not what it was.
fn release_pins(repo: &Repository, item: &Item) -> Result<()> {
    for branch in &item.intent.branches {
        let name = branch.name.as_ref();
        if read_ref(repo, name)? != Some(branch.tip) || branch::reflog(repo, name)? != branch.reflog {
            return Ok(());
        }
    }
    if let Some(worktree) = &item.intent.worktree {
        let git_dir = worktree.git_dir(repo.common_dir());
        // Git may have dropped the registration of a purged worktree before our marker kept it from that.
        let is_there = tree::stat(&git_dir)?.is_some();
        let is_saved = tree::stat(&item.saved())?.is_some();
        if is_saved && (!is_there || registration::difference(&item.saved(), &git_dir)?.is_some()) {
            return Ok(());
        }
    }
    pins::drop(repo, &item.intent.pins)
}

/// `Some`: what has taken its place.
fn restore(repo: &Repository, item: &Item, worktree: &WorktreeIntent) -> Result<Option<String>> {
    let git_dir = worktree.git_dir(repo.common_dir());
    let moved = item.moved();
    let mut is_away = tree::stat(&moved)?.is_some();
    let hidden = match worktree.hidden() {
        Some(hidden) if tree::stat(&hidden)?.is_some() => Some(hidden),
        Some(_) | None => None,
    };
    if is_away {
        if tree::stat(&git_dir)?.is_some() {
            return Ok(Some(taken(item, "another registration has its id", hidden.as_deref())));
        }
    } else if hidden.is_some() && tree::stat(&git_dir)?.is_none() {
        // Someone unlocked and dropped it meanwhile: the copy is as good.
        registration::rebuild(&item.saved(), &moved)?;
        is_away = true;
    } else if !is_ours(item, worktree, &git_dir)? {
        // Without a tree to put back, nothing was moved, or what was is in order.
        give_lock_back(item, worktree, &git_dir)?;
        return Ok(hidden.map(|hidden| taken(item, "its registration was taken over", Some(&hidden))));
    }
    let path = worktree.path();
    if let (Some(hidden), Some(path)) = (&hidden, &path)
        && tree::stat(path)?.is_some()
    {
        let why = format!("something else is at '{}'", path.display());
        return Ok(Some(taken(item, &why, Some(hidden))));
    }
    if is_away {
        bring_registration_back(repo, item, worktree, &git_dir)?;
    }
    if let (Some(hidden), Some(path)) = (&hidden, &path)
        && let Err(error) = rename_no_replace(hidden, path)
    {
        if is_away {
            rename_no_replace(&git_dir, &moved)?;
        }
        return Err(error);
    }
    if let Some(parent) = path.as_deref().and_then(Path::parent)
        && hidden.is_some()
    {
        file::fsync_dir(parent)?;
    }
    give_lock_back(item, worktree, &git_dir)?;
    worktree.exclude.as_ref().map_or(Ok(()), exclude::remove)?;
    Ok(None)
}

fn give_lock_back(item: &Item, worktree: &WorktreeIntent, git_dir: &Path) -> Result<()> {
    if tree::stat(git_dir)?.is_none() {
        return Ok(());
    }
    marker::give_back(git_dir, &item.operation, worktree.lock.as_ref().map(AsRef::as_ref))
}

/// By our marker; or, where someone unlocked it meanwhile, because it is in every byte what was saved.
fn is_ours(item: &Item, worktree: &WorktreeIntent, git_dir: &Path) -> Result<bool> {
    if tree::stat(git_dir)?.is_none() {
        return Ok(false);
    }
    if marker::is_of(git_dir, &item.operation)? {
        return Ok(true);
    }
    let same_place = || -> Result<bool> {
        let (saved, now) = (item.saved().join("gitdir"), git_dir.join("gitdir"));
        Ok(tree::stat(&saved)?.is_some() && fs_err::read(saved)? == fs_err::read(now)?)
    };
    Ok(worktree.hidden.is_some() && same_place()? && registration::difference(&item.saved(), git_dir)?.is_none())
}

pub(super) fn bring_registration_back(
    repo: &Repository,
    item: &Item,
    worktree: &WorktreeIntent,
    git_dir: &Path,
) -> Result<()> {
    let (moved, saved) = (item.moved(), item.saved());
    if registration::difference(&saved, &moved)?.is_some() {
        pin_what_is_new(repo, item, worktree, &moved)?;
    }
    // `git worktree repair` may have written the tree's other name.
    files::restore(&moved.join("gitdir"), &fs_err::read(saved.join("gitdir"))?)?;
    let worktrees = git_dir.parent().ok_or_else(|| Error::failed("io", "a registration without a directory"))?;
    fs_err::create_dir_all(worktrees)?;
    rename_no_replace(&moved, git_dir)?;
    file::fsync_dir(worktrees)?;
    file::fsync_dir(&item.dir)
}

/// A registration that changed after it was saved is kept whole before it goes back.
pub(super) fn pin_what_is_new(repo: &Repository, item: &Item, worktree: &WorktreeIntent, git_dir: &Path) -> Result<()> {
    let contents = registration::contents(git_dir)?;
    let head = contents.get(Path::new("HEAD")).and_then(|text| gix::ObjectId::from_hex(text.trim_ascii()).ok());
    let dying = pins::Dying {
        head: head.or(worktree.head()),
        registration: Some((git_dir, &contents)),
        ..pins::Dying::default()
    };
    let prefix = format!("{}late/", pin_prefix(&item.operation, item.number));
    let (new, _) = pins::collect(repo, &prefix, &dying)?;
    let mut missing = Vec::new();
    for pin in new {
        if read_ref(repo, pin.name.as_ref())?.is_none() {
            missing.push(pin);
        }
    }
    pins::create(repo, &missing)
}

fn taken(item: &Item, why: &str, hidden: Option<&Path>) -> String {
    let mut places = Vec::new();
    places.extend(hidden.map(|hidden| format!("'{}'", hidden.display())));
    places.push(format!("'{}'", item.dir.display()));
    format!("{why}; nothing was deleted, all of it waits in {}", places.join(" and "))
}
