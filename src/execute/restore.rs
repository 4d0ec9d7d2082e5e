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
use crate::sys::tree::{self, rename_no_replace};

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
    if let Some(path) = &path
        && !is_back
        && !place(path, &item.files())?
    {
        told.missed.push(format!("worktree: something else is at '{}'", path.display()));
        return Ok(told);
    }
    failpoint("undo-placed");
    if !is_back {
        told.missed.extend(registration(repo, item, worktree, &git_dir)?);
    }
    failpoint("undo-registration");
    let Some(path) = path else {
        told.restored.push(format!("registration '{}'; its directory was gone already", worktree.id));
        return Ok(told);
    };
    fill(&git_dir, &path)?;
    submodules(&git_dir, &path, &git_dir.join("modules"))?;
    saved_files(&item.files(), &path)?;
    failpoint("undo-files");
    told.missed.extend(verify(repo, worktree, &git_dir, &path)?);
    told.restored.push(format!("worktree '{}'", path.display()));
    Ok(told)
}

/// Make the directory with its link; `false` when something else is there.
fn place(path: &Path, saved: &Path) -> Result<bool> {
    let link = fs_err::read(saved.join(".git"))?;
    if let Some(parent) = path.parent() {
        fs_err::create_dir_all(parent)?;
    }
    match fs_err::create_dir(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // Left by an undo that was killed here.
            let found = tree::walk(path, |_, _| false)?;
            let ours = found.entries.iter().all(|(entry, _)| entry == ".git");
            if !found.root.is_dir() || found.entries.is_empty() || !ours {
                return Ok(false);
            }
            return Ok(fs_err::read(path.join(".git"))? == link);
        }
        Err(error) => return Err(error.into()),
    }
    file::write_atomically(&path.join(".git"), &link, file::Access::Umask)?;
    Ok(true)
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
    let mut told = None;
    if let (Some(branch), Some(head)) = (&worktree.branch, worktree.head())
        && let Some(why) = cannot_be_checked_out(repo, item, branch.as_ref(), head)?
    {
        files::restore(&moved.join("HEAD"), format!("{head}\n").as_bytes())?;
        told = Some(format!("worktree: its HEAD is detached at {}, because {why}", head.to_hex_with_len(7)));
    } else {
        files::restore(&moved.join("HEAD"), &fs_err::read(saved.join("HEAD"))?)?;
    }
    files::restore(&moved.join("gitdir"), &fs_err::read(saved.join("gitdir"))?)?;
    files::restore(&moved.join("locked"), marker::undo_text(&item.operation).as_bytes())?;
    let worktrees = git_dir.parent().ok_or_else(|| Error::failed("io", "a registration without a directory"))?;
    fs_err::create_dir_all(worktrees)?;
    rename_no_replace(&moved, git_dir)?;
    file::fsync_dir(worktrees)?;
    file::fsync_dir(&item.dir)?;
    Ok(told)
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
