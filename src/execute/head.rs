//! HEAD of a linked worktree: off its branch and on it again, at the same commit. Index and files are not touched, and
//! git itself writes HEAD and its reflog, as `git switch` would.

use std::path::Path;

use gix::ObjectId;
use gix::bstr::BStr;

use crate::discover;
use crate::error::{Error, Result};
use crate::git::refs::Refs;
use crate::git::{Repository, read_ref};
use crate::inspect::worktree::of_git_dir;
use crate::journal::to_path;
use crate::model::{Fact, Head, Registration, short_name};
use crate::sys::process::Processes;

/// The registration as it is now, where there still is one.
fn registration(repo: &Repository, id: &BStr) -> Result<Option<Registration>> {
    Ok(discover::registrations(repo, &Refs::read(&repo.local())?)?.into_iter().find(|one| one.id == id))
}

/// Whether HEAD says this branch, which is at this commit.
pub(super) fn is_on(repo: &Repository, id: &BStr, branch: &BStr, at: ObjectId) -> Result<bool> {
    Ok(registration(repo, id)?.is_some_and(|found| found.head == Head::Branch(branch.to_owned(), Some(at))))
}

/// Whether HEAD says this commit.
pub(super) fn is_at(repo: &Repository, id: &BStr, at: ObjectId) -> Result<bool> {
    Ok(registration(repo, id)?.is_some_and(|found| found.head == Head::Detached(at)))
}

/// Off the branch.
///
/// # Errors
/// `raced` when HEAD is elsewhere by now, or git's own message.
pub(super) fn detach(repo: &Repository, id: &BStr, branch: &BStr, at: ObjectId) -> Result<()> {
    if !is_on(repo, id, branch, at)? {
        return Err(Error::failed("raced", "HEAD moved"));
    }
    let message = format!("checkout: moving from {} to {at}", short_name(branch));
    let at = at.to_string();
    let git = repo.git(["update-ref", "--no-deref", "-m", &message, "HEAD", &at, &at]);
    git.env("GIT_DIR", git_dir(repo, id)).run().map(|_| ())
}

/// On the branch again, where HEAD and branch are where they were left, and nobody is at work there.
///
/// # Errors
/// Why it stays as it is.
pub(super) fn attach(repo: &Repository, id: &BStr, branch: &BStr, at: ObjectId) -> Result<()> {
    let refuse = |why: String| Err(Error::failed("raced", why));
    let Some(found) = registration(repo, id)? else { return refuse("the worktree is registered no more".into()) };
    if found.head != Head::Detached(at) {
        return refuse("HEAD moved since".into());
    }
    let shown = short_name(branch);
    if read_ref(repo, branch)? != Some(at) {
        return refuse(format!("branch '{shown}' is no longer at {}", at.to_hex_with_len(7)));
    }
    if let Some((_, user)) = discover::users_now(repo)?.into_iter().find(|(name, _)| name == branch) {
        return refuse(format!("branch '{shown}' is {} at '{}'", user.how, user.path.display()));
    }
    if let Some(what) = of_git_dir(&found.git_dir)?.first() {
        return refuse(what.clone());
    }
    if let Some(path) = found.path.as_deref() {
        nobody_is_inside(path)?;
    }
    let message = format!("checkout: moving from {at} to {shown}");
    let branch = to_path(branch);
    let args: [&std::ffi::OsStr; 5] =
        ["symbolic-ref".as_ref(), "-m".as_ref(), message.as_ref(), "HEAD".as_ref(), branch.as_os_str()];
    repo.git(args).env("GIT_DIR", git_dir(repo, id)).run().map(|_| ())
}

fn nobody_is_inside(path: &Path) -> Result<()> {
    let Ok(path) = fs_err::canonicalize(path) else { return Ok(()) };
    match Processes::snapshot() {
        Fact::Known(processes) if processes.inside(&[path]).iter().all(Vec::is_empty) => Ok(()),
        Fact::Known(_) => Err(Error::failed("raced", "a process works inside")),
        Fact::Unknown(why) => Err(Error::failed("processes", why)),
        Fact::NotApplicable | Fact::NotAsked => Err(Error::failed("processes", "not asked")),
    }
}

fn git_dir(repo: &Repository, id: &BStr) -> std::path::PathBuf {
    repo.common_dir().join("worktrees").join(to_path(id))
}
