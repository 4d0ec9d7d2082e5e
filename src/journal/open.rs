//! What killed or running operations have under way, for commands that only read.

use gix::bstr::BString;

use super::operation::{Item, Journal};
use crate::error::Result;
use crate::git::Repository;
use crate::model::{Pending, PendingWork};
use crate::sys::lock;

/// An item that is neither finished nor put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIntent {
    /// The registration it has.
    pub registration: Option<BString>,
    /// The branches it has, full names.
    pub branches: Vec<BString>,
    /// The operation, and what the next real run does.
    pub pending: Pending,
}

/// Every item that is neither finished nor put back, and not stuck for good. A repair has no shadow under way.
///
/// # Errors
/// `corrupt-journal` (128) when an operation cannot be read.
pub fn open_intents(repo: &Repository) -> Result<Vec<OpenIntent>> {
    let mut open = Vec::new();
    let unsettled = Journal::of(repo).unsettled()?;
    // Only words hang on it: what cannot be told was interrupted.
    let under_way = !unsettled.is_empty() && lock::is_held(&repo.shadow_dir().join("lock")).unwrap_or_default();
    for operation in unsettled {
        let is_open = |item: &&Item| !item.is_settled() && item.stuck.is_none() && item.intent.repair.is_none();
        for item in operation.items.iter().filter(is_open) {
            let work = if item.released.is_some() || is_past_the_point(repo, item)? {
                PendingWork::Finish
            } else {
                PendingWork::Restore
            };
            open.push(OpenIntent {
                registration: item.intent.worktree.as_ref().map(|w| w.id.clone()),
                branches: item.intent.branches.iter().map(|b| b.name.clone()).collect(),
                pending: Pending { operation: item.operation.clone(), work, under_way },
            });
        }
    }
    Ok(open)
}

/// Whether a run was killed between its ref transaction and the mark that says so: the registration is away, and so
/// is every branch.
///
/// # Errors
/// When a ref cannot be read: then it is not known.
pub fn is_past_the_point(repo: &Repository, item: &Item) -> Result<bool> {
    if item.intent.branches.is_empty() || (item.intent.worktree.is_some() && !item.moved().exists()) {
        return Ok(false);
    }
    for branch in &item.intent.branches {
        if crate::git::read_ref(repo, branch.name.as_ref())?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
