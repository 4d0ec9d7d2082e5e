//! Taking back: what was released comes again, where nothing has taken its place. What is taken is never replaced: the
//! rest is restored, and it is told.
//!
//! The registration gets a lock of its own before it is put back, so that the next sweep does not take it again. A
//! branch without a worktree is marked instead.

use gix::bstr::{BStr, BString, ByteSlice as _};

use super::failpoint::failpoint;
use super::reverse::{Reversal, put_back};
use super::{config, repair, restore};
use crate::error::Result;
use crate::git::{RefEdit, Repository, create_without_reflog, read_ref};
use crate::journal::{BranchIntent, Item, Mark, Marker, Undone};
use crate::model::{bytes, short_name};
use crate::sys::{clock, file};

/// What came of taking an item back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// What is there again, each in words.
    pub restored: Vec<String>,
    /// What could not be restored, and why.
    pub missed: Vec<String>,
    /// A shadow is there again, and locked.
    pub locked: bool,
}

/// Whether there is anything of an item to take back: of these branches, if some are named.
pub fn can_undo(item: &Item, only: Option<&BStr>) -> bool {
    if item.stuck.is_some() && item.reversed.is_none() {
        return only.is_none_or(|only| item.intent.branches.iter().any(|branch| branch.name == only));
    }
    let Some(released) = &item.released else { return false };
    if item.intent.repair.is_some() {
        return item.undone.is_none() && only.is_none();
    }
    let worktree = released.worktree && !item.undone.as_ref().is_some_and(|mark| mark.worktree);
    let branches = item.intent.branches.iter().any(|branch| wanted(item, branch, only));
    (worktree && only.is_none_or(|only| item.released_branch(only))) || branches
}

fn wanted(item: &Item, branch: &BranchIntent, only: Option<&BStr>) -> bool {
    let name = branch.name.as_bstr();
    let is_back = item.undone.as_ref().is_some_and(|mark| mark.names(name));
    item.released_branch(name) && !is_back && only.is_none_or(|only| only == name)
}

/// Take an item back, or of a batch just one branch. The repository's lock must be held.
///
/// # Errors
/// When the journal cannot be read or written; what else goes wrong is among what was missed.
pub fn undo(repo: &Repository, item: &mut Item, only: Option<&BStr>) -> Result<TakenBack> {
    let mut told = TakenBack::default();
    if item.released.is_none() {
        match put_back(repo, item, "taken back by undo")? {
            Reversal::Back => {
                item.unmark(Marker::Stuck)?;
                told.restored.push("all that was left in between".into());
            }
            Reversal::Stuck(why) => told.missed.push(why),
        }
        return Ok(told);
    }
    if let Some(repair) = &item.intent.repair {
        match repair::take_back(repo, repair) {
            Ok(what) => {
                told.restored.push(what);
                item.mark(Marker::Undone, Mark::new(clock::now(), None))?;
            }
            Err(error) => told.missed.push(format!("{}: {error}", item.intent.because)),
        }
        return Ok(told);
    }
    told.locked = true;
    let mut mark = item.undone.clone().unwrap_or_else(|| Mark::new(clock::now(), None));
    let wanted: Vec<BranchIntent> =
        item.intent.branches.iter().filter(|branch| wanted(item, branch, only)).cloned().collect();
    let mut back = Vec::new();
    for (branch, result) in wanted.iter().zip(branches(repo, &wanted)) {
        let shown = short_name(branch.name.as_ref());
        match result {
            Ok(()) => {
                told.restored.push(format!("branch '{shown}' at {}", branch.tip.to_hex_with_len(7)));
                mark.branches.push(bytes::encode(&branch.name));
                back.push(branch);
            }
            Err(why) => told.missed.push(format!("branch '{shown}': {why}")),
        }
    }
    failpoint("undo-branch");
    if item.intent.worktree.is_some() && !mark.worktree {
        match restore::worktree(repo, item) {
            Ok(restored) => {
                mark.worktree = restored.missed.is_empty();
                told.restored.extend(restored.restored);
                told.missed.extend(restored.missed);
            }
            Err(error) => told.missed.push(format!("worktree: {error}")),
        }
    }
    if !mark.worktree {
        let mut marks = Undone::read(repo)?;
        for branch in back {
            marks.add(repo, branch.name.as_ref(), &branch.tip)?;
        }
    }
    item.mark(Marker::Undone, mark)?;
    Ok(told)
}

/// Make the branches again, with their reflogs and configuration; together if that can be.
fn branches(repo: &Repository, wanted: &[BranchIntent]) -> Vec<Result<(), String>> {
    let mut results: Vec<Result<bool, String>> = wanted.iter().map(|branch| is_free(repo, branch)).collect();
    let free = || wanted.iter().zip(&results).filter(|(_, free)| **free == Ok(true)).map(|(branch, _)| branch);
    let create = |branch: &BranchIntent| RefEdit::Create(branch.name.clone(), branch.tip);
    let together = create_without_reflog(repo, &free().map(create).collect::<Vec<_>>());
    wanted
        .iter()
        .zip(&mut results)
        .map(|(branch, free)| {
            if std::mem::replace(free, Ok(false))? {
                if together.is_err() {
                    create_without_reflog(repo, &[create(branch)]).map_err(|error| error.message)?;
                }
                remember(repo, branch).map_err(|error| error.message)?;
            }
            Ok(())
        })
        .collect()
}

/// Whether it must be made; an error when another one has its name.
fn is_free(repo: &Repository, branch: &BranchIntent) -> Result<bool, String> {
    match read_ref(repo, branch.name.as_ref()) {
        Ok(None) => Ok(true),
        Ok(Some(now)) if now == branch.tip => Ok(false),
        Ok(Some(now)) => Err(format!(
            "there is another one at {}; 'git branch NAME {}' makes one beside it",
            now.to_hex_with_len(7),
            branch.tip.to_hex_with_len(7)
        )),
        Err(error) => Err(error.message),
    }
}

fn remember(repo: &Repository, branch: &BranchIntent) -> Result<()> {
    if let Some(reflog) = &branch.reflog {
        let path = repo.common_dir().join("logs").join(branch.name.to_path_lossy());
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        // What git leaves where a directory of branches was.
        let _ = fs_err::remove_dir(&path);
        file::write_atomically(&path, reflog, file::Access::Umask)?;
    }
    config::restore(repo, branch.name.as_ref(), branch.config.as_ref())
}

/// The names that an item goes by.
pub fn names(item: &Item) -> Vec<BString> {
    let mut names = vec![item.intent.name.clone()];
    names.extend(item.intent.branches.iter().map(|branch| branch.name.clone()));
    names.extend(item.intent.branches.iter().map(|branch| short_name(branch.name.as_ref()).to_owned()));
    if let Some(worktree) = &item.intent.worktree {
        names.push(worktree.id.clone());
        names.extend(worktree.path.clone());
    }
    names
}
