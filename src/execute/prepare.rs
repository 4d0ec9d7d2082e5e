//! Steps 3 and 4: all that is needed to finish, reverse or take back, read first, then written and pinned.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice as _};

use super::branch::reflog;
use super::{config, exclude, pins, registration};
use crate::error::{Error, Result};
use crate::git::Repository;
use crate::journal::{BranchIntent, INTENT, Intent, Item, NamedRef, WorktreeIntent, files, of_path, pin_prefix};
use crate::judge::{Release, ReleaseBranch, ReleaseWorktree};
use crate::model::Head;
use crate::sys::file;
use crate::sys::tree::{Class, Snapshot};

/// A longer name would not fit beside the operation's.
const LONGEST_NAME: usize = 200;

/// The files of a registration, by their path below it.
pub(super) type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// The intent for one shadow with a worktree or a registration, and the registration's files. Nothing is written but
/// objects that hold others together.
pub(super) fn shadow(
    repo: &Repository,
    operation: &str,
    number: usize,
    name: &BString,
    release: &Release,
    worktree: &ReleaseWorktree,
) -> Result<(Intent, Contents)> {
    let it = &worktree.registration;
    let contents = registration::contents(&it.git_dir)?;
    if contents.get(Path::new("HEAD")).map(|text| text.trim()) != Some(written_head(&it.head)?.as_bytes()) {
        return Err(Error::failed("raced", "HEAD moved"));
    }
    let hidden = match (worktree.present, &it.path) {
        (true, Some(path)) => Some(hidden_name(path, operation, number)?),
        (true, None) | (false, _) => None,
    };
    let known = config::sections(repo)?;
    let branches = release.branch().map(|b| branch(repo, b, &known)).transpose()?.into_iter().collect::<Vec<_>>();
    let on = match &it.head {
        Head::Branch(name, _) => Some(name.clone()),
        Head::Detached(_) | Head::Broken(_) => None,
    };
    let dying = pins::Dying {
        tips: branches.iter().map(|b| b.tip).collect(),
        head: it.head.commit(),
        registration: Some((&it.git_dir, &contents)),
        reflogs: branches.iter().filter_map(|b| b.reflog.as_deref().map(|log| log.as_slice())).collect(),
    };
    let (pins, missing) = pins::collect(repo, &pin_prefix(operation, number), &dying)?;
    let exclude = hidden.as_deref().map(exclude::line_for).transpose()?.flatten();
    let worktree = WorktreeIntent {
        id: it.id.clone(),
        path: it.path.as_deref().map(of_path),
        hidden: hidden.as_deref().map(of_path),
        branch: on,
        head: it.head.commit().map(|id| id.to_string()),
        lock: worktree
            .passes_lock
            .as_ref()
            .map(|_| contents.get(Path::new("locked")).cloned().unwrap_or_default().into()),
        exclude,
    };
    let because = release.because().as_str().to_owned();
    let intent = Intent {
        schema: INTENT.into(),
        name: name.clone(),
        because,
        worktree: Some(worktree),
        branches,
        pins,
        missing,
        repair: None,
    };
    Ok((intent, contents))
}

/// The intent for a batch of branches without a worktree.
pub(super) fn batch(
    repo: &Repository,
    operation: &str,
    number: usize,
    releases: &[(BString, Release)],
) -> Result<Intent> {
    let known = config::sections(repo)?;
    let mut branches = Vec::new();
    for release in releases.iter().filter_map(|(_, release)| release.branch()) {
        branches.push(branch(repo, release, &known)?);
    }
    let dying = pins::Dying {
        tips: branches.iter().map(|b| b.tip).collect(),
        reflogs: branches.iter().filter_map(|b| b.reflog.as_deref().map(|log| log.as_slice())).collect(),
        ..pins::Dying::default()
    };
    let (pins, missing) = pins::collect(repo, &pin_prefix(operation, number), &dying)?;
    let (name, because) = match releases.first() {
        Some((name, release)) => (name.clone(), release.because().as_str().to_owned()),
        None => (BString::default(), String::new()),
    };
    Ok(Intent { schema: INTENT.into(), name, because, worktree: None, branches, pins, missing, repair: None })
}

/// Step 4: copies and pins, all of it on the disk when this returns.
pub(super) fn save(item: &Item, contents: &Contents, snapshot: Option<&Snapshot>) -> Result<()> {
    registration::save(contents, &item.saved())?;
    if let (Some(snapshot), Some(worktree)) = (snapshot, &item.intent.worktree) {
        files::write_json(&item.snapshot(), snapshot)?;
        if let Some(path) = worktree.path() {
            save_files(&path, snapshot, &item.files())?;
        }
    }
    file::fsync_dir(&item.dir)
}

/// Copies of the files that policy saves before they go, and of what links worktrees to their repositories.
fn save_files(root: &Path, snapshot: &Snapshot, to: &Path) -> Result<()> {
    for entry in snapshot.entries.iter().filter(|entry| matches!(entry.class, Class::Saved | Class::Link)) {
        let below = entry.path.to_path_lossy();
        let target = to.join(&below);
        let parent = target.parent().unwrap_or(to);
        fs_err::create_dir_all(parent)?;
        let from = root.join(&below);
        files::write_through(&target, &fs_err::read(&from)?)?;
        fs_err::set_permissions(&target, fs_err::symlink_metadata(&from)?.permissions())?;
        file::fsync_dir(parent)?;
    }
    Ok(())
}

fn branch(repo: &Repository, release: &ReleaseBranch, known: &BTreeMap<BString, BString>) -> Result<BranchIntent> {
    let (name, at) = release.rests_on.clone();
    Ok(BranchIntent {
        name: release.name.clone(),
        tip: release.tip,
        rests_on: NamedRef { name, at },
        reflog: reflog(repo, release.name.as_ref())?,
        config: known.get(&release.name).cloned().unwrap_or_default(),
    })
}

/// What the HEAD file of a registration says that has this head.
fn written_head(head: &Head) -> Result<BString> {
    match head {
        Head::Branch(name, _) => Ok([b"ref: ", name.as_slice()].concat().into()),
        Head::Detached(commit) => Ok(commit.to_string().into()),
        Head::Broken(why) => Err(Error::failed("registration", why.clone())),
    }
}

/// `.<name>.shadow-<operation>` beside the worktree: worktrees and repository are often on different file systems.
fn hidden_name(path: &Path, operation: &str, number: usize) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| Error::failed("raced", "the worktree has no name"))?;
    let mut hidden = OsString::from(".");
    if name.len() > LONGEST_NAME {
        hidden.push(number.to_string());
    } else {
        hidden.push(name);
    }
    hidden.push(format!(".shadow-{operation}"));
    Ok(path.with_file_name(hidden))
}
