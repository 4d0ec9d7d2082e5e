//! Where the files are, and which of them count.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use gix::bstr::{BString, ByteSlice as _};
use gix::prelude::ObjectIdExt as _;

use super::file::File;
use super::{Policy, Source, layers};
use crate::error::{Error, Result, chain};
use crate::git::{Repository, bases};
use crate::model::Base;

/// The name of the repository's file.
pub const FILE_NAME: &str = ".shadowrc";

/// The code of the error that the repository's file is out of sight.
pub const NO_CHECKOUT: &str = "no-checkout";

/// A larger one is a mistake.
const MOST_BYTES: u64 = 1 << 20;

/// The policy for `repo`: defaults, the user's file, the repository's.
///
/// The repository's is the one in the canonical checkout; while that is on a shadow's branch, and in a bare repository,
/// it is the one in the base's tree (none where no base can be told): a session must not write the rules that judge it.
///
/// # Errors
/// 128 with line, column and the nearest key for an unknown key or a bad value, and for a file that cannot be read;
/// [`NO_CHECKOUT`] when there is a checkout that cannot be found.
pub fn load(repo: &Repository) -> Result<Policy> {
    let mut policy = load_user()?;
    if let Some(file) = repository_file(repo, &policy)? {
        layers::repository(&mut policy, file, repo)?;
    }
    Ok(policy)
}

/// The policy for what belongs to no repository: defaults and the user's file.
///
/// # Errors
/// As [`load`].
pub fn load_user() -> Result<Policy> {
    let mut policy = Policy::built_in();
    if let Some(file) = user_file()? {
        layers::user(&mut policy, file);
        super::add_resolved(&mut policy.roots.value);
    }
    Ok(policy)
}

/// Where the user's file is, if there is a home to look in.
pub fn user_path() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("git-shadow").join("config.toml"))
}

fn user_file() -> Result<Option<File>> {
    let Some(path) = user_path() else { return Ok(None) };
    // Unlike the repository's it may be a link, as keepers of dotfiles make them.
    match fs_err::metadata(&path) {
        Err(e) if is_absent(&e) => return Ok(None),
        Err(e) => return Err(unreadable(&path.display(), e)),
        Ok(metadata) => check_kind(&path.display(), metadata.is_file(), metadata.len())?,
    }
    let bytes = fs_err::read(&path).map_err(|e| unreadable(&path.display(), e))?;
    File::parse(Source::User(path.clone()), &path.display().to_string(), &bytes).map(Some)
}

fn repository_file(repo: &Repository, policy: &Policy) -> Result<Option<File>> {
    let Some(checkout) = repo.work_dir() else {
        // Made with '--separate-git-dir': git has no way from a linked worktree, or from the repository, to the checkout.
        if repo.local().config_snapshot().boolean("core.bare") == Some(false) {
            let message = format!(
                "the main worktree of '{}' and its '{FILE_NAME}' cannot be found from here",
                repo.path().display()
            );
            return Err(
                Error::fatal(NO_CHECKOUT, message).hint("run it in the main worktree, or name that with --repo")
            );
        }
        return base_file(repo, policy);
    };
    let heads = branches_of_checkout(repo)?;
    if heads.iter().any(|name| policy.is_shadow_branch(name.as_ref())) {
        return base_file(repo, policy);
    }
    let Some(file) = checkout_file(checkout)? else { return Ok(None) };
    // By its own patterns the checkout may be on a shadow's branch: then it is not this file's to say so.
    let added = file.branches.iter().flatten();
    let own = added.clone().any(|at| heads.iter().any(|name| super::pattern::matches_branch(&at.value, name.as_ref())));
    if own && !covers_a_base(repo, policy, &heads) { base_file(repo, policy) } else { Ok(Some(file)) }
}

/// On a base the file is the project's own; a pattern in it that covers the base is refused, not passed over.
fn covers_a_base(repo: &Repository, policy: &Policy, heads: &[BString]) -> bool {
    let resolved = bases::resolve(repo, policy);
    let mut names = resolved.known().into_iter().flatten();
    names.any(|base| heads.contains(&base.name))
}

/// The branch that the canonical checkout is on, also while a rebase or bisect has detached it.
fn branches_of_checkout(repo: &Repository) -> Result<Vec<BString>> {
    let gix = repo.local();
    let head = gix.head_name().map_err(|_| {
        let head = repo.common_dir().join("HEAD");
        Error::fatal("bad-head", format!("'{}' cannot be read as a ref or a commit", head.display()))
    })?;
    if let Some(name) = head {
        return Ok(vec![name.as_bstr().to_owned()]);
    }
    let mut names = Vec::new();
    for file in ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"] {
        match fs_err::read(repo.common_dir().join(file)) {
            Ok(name) => {
                let name = name.trim();
                let prefix: &[u8] = if name.starts_with(b"refs/") { b"" } else { b"refs/heads/" };
                names.push([prefix, name].concat().into());
            }
            Err(e) if is_absent(&e) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(names)
}

fn checkout_file(checkout: &Path) -> Result<Option<File>> {
    let path = checkout.join(FILE_NAME);
    match fs_err::symlink_metadata(&path) {
        Err(e) if is_absent(&e) => return Ok(None),
        Err(e) => return Err(unreadable(&path.display(), e)),
        Ok(metadata) => check_kind(&path.display(), metadata.is_file(), metadata.len())?,
    }
    let bytes = fs_err::read(&path).map_err(|e| unreadable(&path.display(), e))?;
    let shown = path.display().to_string();
    File::parse(Source::Repo(shown.clone()), &shown, &bytes).map(Some)
}

fn base_file(repo: &Repository, policy: &Policy) -> Result<Option<File>> {
    let gix = repo.local();
    for base in bases::resolve(repo, policy).known().into_iter().flatten() {
        if let Some(file) = file_in_tree(&gix, base)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn file_in_tree(gix: &gix::Repository, base: &Base) -> Result<Option<File>> {
    let shown = format!("{}:{FILE_NAME}", base.name);
    let read = || -> gix::Result<Option<(bool, gix::Id<'_>)>> {
        let tree = gix.find_commit(base.tip)?.tree()?;
        Ok(tree.find_entry(FILE_NAME).map(|entry| (entry.mode().is_blob(), entry.id().detach().attach(gix))))
    };
    let unreadable = |e: gix::Error| unreadable(&shown, chain(&e));
    let Some((is_file, id)) = read().map_err(unreadable)? else { return Ok(None) };
    let size = if is_file { id.header().map_err(unreadable)?.size() } else { 0 };
    check_kind(&shown, is_file, size)?;
    let blob = id.object().map_err(unreadable)?;
    File::parse(Source::Repo(shown.clone()), &shown, &blob.data).map(Some)
}

fn check_kind(shown: &dyn std::fmt::Display, is_file: bool, size: u64) -> Result<()> {
    let wrong = |why: &str| Err(Error::fatal("bad-policy", format!("'{shown}' {why}")));
    if !is_file {
        return wrong("is not a regular file");
    }
    if size > MOST_BYTES {
        return wrong("is larger than 1 MiB");
    }
    Ok(())
}

fn unreadable(shown: &dyn std::fmt::Display, error: impl std::fmt::Display) -> Error {
    Error::fatal("bad-policy", format!("cannot read '{shown}': {error}"))
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
