//! Submodules: their clones live in the registration and go with it, so every rule of a worktree holds inside them too.

use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};

use super::files::{self, Kind, full, join};
use super::status::{self, Checkout, Reading};
use super::worktree::Scene;
use super::{hidden_edits, ignored, operation};
use crate::error::{Error, Result, chain};
use crate::git::Git;
use crate::model::{Registration, Status};
use crate::sys::tree;

/// What holds in the submodules of a registration, each in words: in the clones themselves, and (`root`: the worktree is
/// present) in those that are checked out.
///
/// # Errors
/// When anything cannot be read.
pub(super) fn holds(
    scene: Scene<'_>,
    registration: &Registration,
    present: Option<(&Path, &Reading)>,
) -> Result<Vec<String>> {
    let modules = registration.git_dir.join("modules");
    let mut holds = Vec::new();
    let mut clones = Vec::new();
    collect(&modules, "".into(), &mut clones)?;
    for (name, git_dir) in clones {
        holds.extend(of_clone(&git_dir)?.into_iter().map(|what| format!("'{name}': {what}")));
    }
    if let Some((root, reading)) = present {
        for path in &reading.found.submodules {
            let at = full(root, path.as_ref())?;
            match git_dir(&at, &modules)? {
                Some(git_dir) => checked_out(scene, path.as_ref(), &git_dir, &at, &modules, &mut holds)?,
                None => holds.push(format!("'{path}': its repository is not in the registration")),
            }
        }
    }
    Ok(holds)
}

/// Repositories below `modules`; a submodule's name may have slashes, and it has `modules` of its own.
fn collect(dir: &Path, name: &BStr, clones: &mut Vec<(BString, PathBuf)>) -> Result<()> {
    for (last, kind) in files::list(dir)? {
        if kind != Kind::Directory {
            continue;
        }
        let (path, name) = (full(dir, last.as_ref())?, join(name, last.as_ref()));
        if files::exists(&path.join("HEAD"))? {
            collect(&path.join("modules"), name.as_ref(), clones)?;
            clones.push((name, path));
        } else {
            collect(&path, name.as_ref(), clones)?;
        }
    }
    Ok(())
}

/// The git directory of a checked-out submodule, when it is one of the registration's.
///
/// # Errors
/// When its `.git` cannot be read.
pub(super) fn git_dir(checkout: &Path, modules: &Path) -> Result<Option<PathBuf>> {
    let link = checkout.join(".git");
    if !tree::stat(&link)?.is_some_and(|found| found.is_file()) {
        return Ok(None);
    }
    let text = fs_err::read(&link)?;
    let Some(named) = text.strip_prefix(b"gitdir:") else { return Ok(None) };
    let named = fs_err::canonicalize(full(checkout, named.trim().as_bstr())?)?;
    let modules = fs_err::canonicalize(modules)?;
    Ok(named.starts_with(&modules).then_some(named))
}

/// Commits in a clone that its remotes do not have, what is staged in it, its own linked worktrees, and what it is in the
/// middle of.
fn of_clone(git_dir: &Path) -> Result<Vec<String>> {
    let mut holds = operation::of_git_dir(git_dir)?;
    let worktrees = files::list(&git_dir.join("worktrees"))?;
    if let Some((first, _)) = worktrees.first() {
        holds.push(format!("it has a linked worktree ({first})"));
    }
    if files::exists(&git_dir.join("index"))? {
        let args = ["diff", "--cached", "--name-only", "--no-renames", "--ignore-submodules=none", "-z"];
        let listed = Git::new(git_dir, args).worktree(git_dir, git_dir).run()?;
        if let Some(first) = listed.split(|b| *b == 0).find(|path| !path.is_empty()) {
            holds.push(format!("staged: {}", first.as_bstr()));
        }
    }
    let args = ["rev-list", "--count", "--all", "--reflog", "--not", "--remotes"];
    // Its own `core.worktree` may be away.
    let count = Git::new(git_dir, args).worktree(git_dir, git_dir).run()?;
    match count.trim().as_bstr() {
        count if count == "0" => {}
        count => holds.push(format!("commits that no remote has ({count})")),
    }
    Ok(holds)
}

/// The rules of a worktree, for a checked-out submodule and those in it.
fn checked_out(
    scene: Scene<'_>,
    path: &BStr,
    git_dir: &Path,
    root: &Path,
    modules: &Path,
    holds: &mut Vec<String>,
) -> Result<()> {
    let gix = gix::open(git_dir).map_err(|e| Error::failed("submodule", format!("'{path}': {}", chain(&e))))?;
    let checkout = Checkout { gix: &gix, git_dir, root, head: None };
    let mut reading = status::read(checkout)?;
    let status = std::mem::replace(&mut reading.status, Ok(Status::default()))?;
    let mut worth = ignored::shallow(scene, root, &reading.found.ignored)?;
    let (deep, mut undeletable) = ignored::deep(scene, root, &reading.found.ignored, &worth.rebuildable)?;
    undeletable.extend(reading.found.undeletable.iter().cloned());
    worth.held.extend(deep.held);
    worth.repositories.extend(deep.repositories);
    worth.repositories.extend_from_slice(&reading.found.repositories);
    let mut hidden = hidden_edits::flagged(checkout, &reading)?;
    hidden.extend(hidden_edits::converted(checkout, &reading)?);
    for (what, paths) in [
        ("changed", status.tracked),
        ("untracked", status.untracked),
        ("hidden edits", hidden),
        ("ignored, cannot be rebuilt", worth.held),
        ("repositories inside", worth.repositories),
        ("cannot be deleted", undeletable.into_iter().map(|one| one.path).collect()),
    ] {
        if let Some(first) = paths.first() {
            let more = if paths.len() > 1 { format!(" (+{} more)", paths.len() - 1) } else { String::new() };
            holds.push(format!("'{path}': {what}: {first}{more}"));
        }
    }
    for below in &reading.found.submodules {
        let (path, at) = (join(path, below.as_ref()), full(root, below.as_ref())?);
        match self::git_dir(&at, modules)? {
            Some(git_dir) => checked_out(scene, path.as_ref(), &git_dir, &at, modules, holds)?,
            None => holds.push(format!("'{path}': its repository is not in the registration")),
        }
    }
    Ok(())
}
