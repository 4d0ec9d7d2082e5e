//! A released worktree comes again: its registration as it was saved, its files from the saved HEAD by the saved index.

use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};

use super::failpoint::failpoint;
use super::undo::TakenBack;
use super::{marker, registration};
use crate::discover;
use crate::error::{Error, Result};
use crate::git::{Git, Repository, read_ref};
use crate::inspect::worktree::git_status;
use crate::journal::{Item, WorktreeIntent, files};
use crate::model::{Head, Registration, short_name};
use crate::sys::file;
use crate::sys::tree::{self, Class, Snapshot, rename_no_replace};

/// Put the registration and the files of a released item back.
///
/// # Errors
/// When something cannot be read or written. It may be tried again: what is there already is left alone.
pub(super) fn worktree(repo: &Repository, item: &Item) -> Result<TakenBack> {
    let mut told = TakenBack::default();
    let Some(worktree) = &item.intent.worktree else { return Ok(told) };
    let git_dir = worktree.git_dir(repo.common_dir());
    let is_back = tree::stat(&git_dir)?.is_some();
    if is_back && !(tree::stat(&item.moved())?.is_none() && marker::is_undo_of(&git_dir, &item.operation)?) {
        told.missed.push(format!("worktree: another registration has the id '{}'", worktree.id));
        return Ok(told);
    }
    let path = worktree.path().filter(|_| worktree.hidden.is_some());
    if let (Some(path), Some(hidden)) = (&path, worktree.hidden())
        && !is_back
        && !place(path, &hidden, &item.files())?
    {
        told.missed.push(format!("worktree: something else is at '{}'", path.display()));
        return Ok(told);
    }
    failpoint("undo-placed");
    if !is_back {
        told.missed.extend(registration(repo, item, worktree, &git_dir)?);
    } else if worktree
        .head()
        .is_some_and(|id| fs_err::read(git_dir.join("HEAD")).is_ok_and(|now| now == detached(id).as_bytes()))
    {
        // As an earlier try left it, when its branch was taken.
        told.missed.extend(head(repo, item, worktree, &git_dir)?);
    }
    failpoint("undo-registration");
    let Some(path) = path else {
        told.restored.push(format!("registration '{}'; its directory was gone already", worktree.id));
        return Ok(told);
    };
    saved_files(&item.files(), &path)?;
    fill(&git_dir, &path)?;
    submodules(&git_dir, &path, &git_dir.join("modules"))?;
    modes(item, &path)?;
    failpoint("undo-files");
    told.missed.extend(verify(repo, worktree, &git_dir, &path)?);
    told.restored.push(format!("worktree '{}'", path.display()));
    Ok(told)
}

/// Make the directory with its link, made beside and then put in place; `false` when something else is there.
fn place(path: &Path, hidden: &Path, saved: &Path) -> Result<bool> {
    let link = fs_err::read(saved.join(".git"))?;
    let mut beside = hidden.as_os_str().to_owned();
    beside.push("-undo");
    let beside = PathBuf::from(beside);
    if let Some(there) = tree::stat(path)? {
        // With nothing but our link it was left by an undo that was killed here.
        let found = if there.is_dir() { tree::walk(path, |_, _| false)?.entries } else { Vec::new() };
        let ours = found.iter().all(|(entry, _)| entry == ".git") && !found.is_empty();
        return Ok(ours && fs_err::read(path.join(".git"))? == link);
    }
    fs_err::create_dir_all(&beside)?;
    files::write_aside(&beside.join(".git"), &link)?;
    file::fsync_dir(&beside)?;
    match rename_no_replace(&beside, path) {
        Err(error) if error.code == "exists" => Ok(false),
        renamed => renamed.and_then(|()| files::sync_parent(path)).map(|()| true),
    }
}

/// Put the registration back, locked; what of it could not be as it was.
fn registration(repo: &Repository, item: &Item, worktree: &WorktreeIntent, git_dir: &Path) -> Result<Option<String>> {
    let (moved, saved) = (item.moved(), item.saved());
    if let Some(changed) = registration::difference(&saved, &moved)?
        && changed != "HEAD"
    {
        return Err(Error::failed(
            "journal",
            format!("'{}' is not as it was saved", moved.join(changed.to_path_lossy()).display()),
        ));
    }
    let told = head(repo, item, worktree, &moved)?;
    files::restore(&moved.join("gitdir"), &fs_err::read(saved.join("gitdir"))?)?;
    marker::write_undo(&moved, &item.operation)?;
    let worktrees = git_dir.parent().ok_or_else(|| Error::failed("io", "a registration without a directory"))?;
    fs_err::create_dir_all(worktrees)?;
    rename_no_replace(&moved, git_dir)?;
    file::fsync_dir(worktrees)?;
    file::fsync_dir(&item.dir)?;
    Ok(told)
}

/// HEAD on its branch; or detached at its commit, and why.
fn head(repo: &Repository, item: &Item, worktree: &WorktreeIntent, git_dir: &Path) -> Result<Option<String>> {
    let file = git_dir.join("HEAD");
    if let (Some(branch), Some(head)) = (&worktree.branch, worktree.head())
        && let Some(why) = cannot_be_checked_out(repo, item, branch.as_ref(), head)?
    {
        files::restore(&file, detached(head).as_bytes())?;
        return Ok(Some(format!("worktree: its HEAD is detached at {}, because {why}", head.to_hex_with_len(7))));
    }
    files::restore(&file, &fs_err::read(item.saved().join("HEAD"))?)?;
    Ok(None)
}

fn detached(head: gix::ObjectId) -> String {
    format!("{head}\n")
}

fn cannot_be_checked_out(repo: &Repository, item: &Item, branch: &BStr, head: gix::ObjectId) -> Result<Option<String>> {
    let shown = short_name(branch);
    if read_ref(repo, branch)? != Some(head) {
        return Ok(Some(format!("branch '{shown}' is not there, or another one")));
    }
    let users = discover::users_now(repo)?;
    let mut user = None;
    for one in users.iter().filter(|(name, _)| name == branch) {
        // Two worktrees that shared it when they were released share it again.
        let id = one.1.id.as_ref().map(|id| repo.common_dir().join("worktrees").join(id.to_path_lossy()));
        let ours = id.map(|git_dir| marker::is_undo_of(&git_dir, &item.operation)).transpose()?;
        if ours != Some(true) {
            user = Some(one);
        }
    }
    Ok(user.map(|(_, user)| format!("branch '{shown}' is {} at '{}'", user.how, user.path.display())))
}

/// Check out what the index says and is not there; entries outside a sparse checkout stay away.
fn fill(git_dir: &Path, path: &Path) -> Result<()> {
    let git = Git::new(path, ["checkout-index", "--all", "--index", "--quiet"]).worktree(git_dir, path);
    // It ends with an error where a file is there already, which a second try finds; the check that follows tells.
    git.output().map(|_| ())
}

/// Submodules, from the repositories that were saved with the registration; recursively.
fn submodules(git_dir: &Path, path: &Path, modules: &Path) -> Result<()> {
    if tree::stat(modules)?.is_none() {
        return Ok(());
    }
    let git = Git::new(path, ["ls-files", "-s", "-z"]).worktree(git_dir, path);
    let listed = git.run()?;
    let links = listed.split(|&byte| byte == 0).filter(|record| record.starts_with(b"160000 "));
    for name in links.filter_map(|record| record.splitn_str(2, "\t").nth(1)) {
        let below = path.join(name.to_path_lossy());
        let Some(module) = module_at(modules, &below)? else { continue };
        fs_err::create_dir_all(&below)?;
        let link = below.join(".git");
        if tree::stat(&link)?.is_none() {
            file::write_atomically(&link, format!("gitdir: {}\n", module.display()).as_bytes(), file::Access::Umask)?;
        }
        fill(&module, &below)?;
        submodules(&module, &below, &module.join("modules"))?;
    }
    Ok(())
}

/// The repository among `modules` whose worktree is `below`; names may have slashes.
fn module_at(modules: &Path, below: &Path) -> Result<Option<PathBuf>> {
    for entry in fs_err::read_dir(modules)? {
        let dir = entry?.path();
        if !dir.is_dir() {
            continue;
        }
        if tree::stat(&dir.join("HEAD"))?.is_none() {
            if let Some(found) = module_at(&dir, below)? {
                return Ok(Some(found));
            }
            continue;
        }
        let git = Git::new(&dir, ["config", "--file", "config", "core.worktree"]);
        let said: BString = git.output()?.stdout.into();
        let named = dir.join(said.trim().to_path_lossy());
        if lexical(&named) == lexical(below) {
            return Ok(Some(dir));
        }
    }
    Ok(None)
}

fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// What policy had saved, where nothing is in its place.
fn saved_files(saved: &Path, path: &Path) -> Result<()> {
    if tree::stat(saved)?.is_none() {
        return Ok(());
    }
    for (entry, stat) in tree::walk(saved, |_, _| true)?.entries {
        let (from, to) = (saved.join(entry.to_path_lossy()), path.join(entry.to_path_lossy()));
        if stat.is_dir() {
            fs_err::create_dir_all(&to)?;
        } else if tree::stat(&to)?.is_none() {
            files::write_through(&to, &fs_err::read(&from)?)?;
            fs_err::set_permissions(&to, fs_err::symlink_metadata(&from)?.permissions())?;
        }
    }
    Ok(())
}

/// Directories are as open or closed as they were; git only keeps the modes of files.
fn modes(item: &Item, path: &Path) -> Result<()> {
    let Some(snapshot) = files::read_json::<Snapshot>(&item.snapshot())? else { return Ok(()) };
    for entry in snapshot.entries.iter().filter(|entry| entry.class == Class::Directory).rev() {
        file::set_mode(&path.join(entry.path.to_path_lossy()), entry.stat.mode)?;
    }
    file::set_mode(path, snapshot.root.mode)
}

/// A restore that brings the record back but not the files must not go unseen.
fn verify(repo: &Repository, worktree: &WorktreeIntent, git_dir: &Path, path: &Path) -> Result<Option<String>> {
    let registration = Registration {
        id: worktree.id.clone(),
        git_dir: git_dir.to_owned(),
        path: Some(path.to_owned()),
        head: Head::Broken("not asked".into()),
        names: Vec::new(),
        unread: None,
    };
    let status = git_status(repo, &registration)?;
    Ok(status
        .tracked
        .first()
        .map(|first| format!("worktree: {} files are not as they were, among them '{first}'", status.tracked.len())))
}
