//! Deleting branches: one transaction that also verifies the pins and what the proofs rest on.

use std::collections::BTreeMap;
use std::time::Duration;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::discover;
use crate::error::{Error, Result};
use crate::git::{RefEdit, Repository, read_ref, update_refs};
use crate::journal::{BranchIntent, Intent, NamedRef};
use crate::model::short_name;
use crate::sys::file;

/// How often a transaction is tried again when only the base moved on, or only a lock was busy.
const RETRIES: u32 = 3;

/// Why a transaction did not go through. Nothing was deleted.
#[derive(Debug, Clone)]
pub(super) enum Refusal {
    /// Something moved; it is not the branch that was judged any more.
    Raced(String),
    /// git would not, for another reason.
    Failed(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Failed(error.message)
    }
}

/// Delete these branches of an intent, all or none.
pub(super) fn delete(repo: &Repository, intent: &Intent, branches: &[&BranchIntent]) -> Result<(), Refusal> {
    let mut rests: BTreeMap<BString, ObjectId> = BTreeMap::new();
    for NamedRef { name, at } in branches.iter().map(|branch| &branch.rests_on) {
        if rests.insert(name.clone(), *at).is_some_and(|other| other != *at) {
            return Err(Refusal::Raced(format!("'{}' moved", short_name(name.as_ref()))));
        }
    }
    for attempt in 0..=RETRIES {
        unused(repo, branches)?;
        let mut edits: Vec<RefEdit> = intent.pins.iter().map(|pin| RefEdit::Verify(pin.name.clone(), pin.at)).collect();
        edits.extend(rests.iter().map(|(name, at)| RefEdit::Verify(name.clone(), *at)));
        edits.extend(branches.iter().map(|branch| RefEdit::Delete(branch.name.clone(), branch.tip)));
        let Err(error) = update_refs(repo, &edits, "git-shadow: released") else { return Ok(()) };
        still_at_their_tips(repo, branches)?;
        let moved_on = follow(repo, &mut rests)?;
        if attempt == RETRIES || !(moved_on || error.message.contains(".lock'")) {
            return Err(Refusal::Failed(error.message));
        }
        if !moved_on {
            std::thread::sleep(Duration::from_millis(50 << attempt));
        }
    }
    Err(Refusal::Failed("the references are busy".into()))
}

/// A branch's reflog, byte for byte; `None` where it has none.
pub(super) fn reflog(repo: &Repository, name: &BStr) -> Result<Option<BString>> {
    Ok(file::read(&repo.common_dir().join("logs").join(name.to_path_lossy()))?.map(BString::from))
}

/// No worktree that stays names one of them: `update-ref` does not know about that.
fn unused(repo: &Repository, branches: &[&BranchIntent]) -> Result<(), Refusal> {
    let users = discover::users_now(repo)?;
    for branch in branches {
        if let Some((_, user)) = users.iter().find(|(name, _)| *name == branch.name) {
            return Err(Refusal::Raced(format!("{} at '{}'", user.how, user.path.display())));
        }
    }
    Ok(())
}

fn still_at_their_tips(repo: &Repository, branches: &[&BranchIntent]) -> Result<(), Refusal> {
    for branch in branches {
        match read_ref(repo, branch.name.as_ref())? {
            Some(now) if now == branch.tip => {}
            Some(now) => {
                let (from, to) = (branch.tip.to_hex_with_len(7), now.to_hex_with_len(7));
                return Err(Refusal::Raced(format!("branch moved {from}..{to}")));
            }
            None => return Err(Refusal::Raced("the branch is gone".into())),
        }
    }
    Ok(())
}

/// Take the new values of what the proofs rest on, where they contain the old ones: history only grew.
fn follow(repo: &Repository, rests: &mut BTreeMap<BString, ObjectId>) -> Result<bool, Refusal> {
    let mut moved_on = false;
    for (name, at) in rests.iter_mut() {
        let shown = short_name(name.as_bstr());
        let Some(now) = read_ref(repo, name.as_bstr())? else {
            return Err(Refusal::Raced(format!("'{shown}' is gone")));
        };
        if now == *at {
            continue;
        }
        let asked = repo.git(["merge-base", "--is-ancestor", &at.to_string(), &now.to_string()]).output()?;
        if !asked.status.success() {
            return Err(Refusal::Raced(format!("'{shown}' was rewritten")));
        }
        *at = now;
        moved_on = true;
    }
    Ok(moved_on)
}
