//! What the journal says of shadows: taken back by undo, first seen, under way in an operation that was interrupted.

use gix::bstr::{BString, ByteSlice as _};

use crate::error::Result;
use crate::git::Repository;
use crate::journal::{OpenIntent, Seen, Undone, open_intents};
use crate::model::{Age, Evidence, Fact, Shadow, short_name};

/// Add it to the evidence; what an interrupted operation has whole, so that nothing of it was found, comes as a shadow
/// of its own.
///
/// # Errors
/// `corrupt-journal` (128).
pub fn apply(repo: &Repository, evidence: &mut Vec<Evidence>) -> Result<()> {
    let undone = Undone::read(repo)?;
    let seen = Seen::read(repo)?;
    let mut open = open_intents(repo)?;
    for one in evidence.iter_mut() {
        one.pending = take_matching(&mut open, &one.shadow).map(|intent| intent.pending);
        let at = one.shadow.branch.as_ref().and_then(|branch| Some((branch.name.as_bstr(), branch.tip?)));
        let Some((name, tip)) = at else { continue };
        if let Some(facts) = &mut one.branch {
            facts.undone = Fact::Known(undone.has(name, &tip));
        }
        if one.age == Fact::Known(Age { newest: None }) {
            one.age = Fact::Known(Age { newest: seen.first(name, &tip) });
        }
    }
    evidence.extend(open.into_iter().map(|intent| Evidence {
        pending: Some(intent.pending.clone()),
        ..Evidence::not_asked(Shadow { name: name_of(&intent), foreign: false, branch: None, worktree: None })
    }));
    evidence.sort_by(|a, b| a.shadow.name.cmp(&b.shadow.name));
    Ok(())
}

fn take_matching(open: &mut Vec<OpenIntent>, shadow: &Shadow) -> Option<OpenIntent> {
    let matches = |intent: &OpenIntent| {
        let id = shadow.worktree.as_ref().map(|registration| &registration.id);
        let branch = shadow.branch.as_ref().map(|branch| &branch.name);
        (id.is_some() && id == intent.registration.as_ref()) || branch.is_some_and(|b| intent.branches.contains(b))
    };
    // A batch names many branches: it stays for the others.
    let at = open.iter().position(matches)?;
    if open[at].branches.len() > 1 { Some(open[at].clone()) } else { Some(open.remove(at)) }
}

fn name_of(intent: &OpenIntent) -> BString {
    let branch = intent.branches.first().map(|branch| short_name(branch.as_bstr()).to_owned());
    branch.or_else(|| intent.registration.clone()).unwrap_or_else(|| intent.pending.operation.as_str().into())
}
