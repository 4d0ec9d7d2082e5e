//! What the journal says of shadows: taken back by undo, first seen, under way in an operation that was interrupted.

use gix::bstr::{BString, ByteSlice as _};

use crate::error::Result;
use crate::git::Repository;
use crate::journal::{OpenIntent, Seen, Undone, open_intents};
use crate::model::{Age, Evidence, Fact, Shadow, short_name};

/// All of it, for one repository.
#[derive(Debug)]
pub struct Marks {
    undone: Undone,
    seen: Seen,
    open: Vec<OpenIntent>,
}

impl Marks {
    /// Read them.
    ///
    /// # Errors
    /// `corrupt-journal` (128).
    pub fn read(repo: &Repository) -> Result<Marks> {
        Ok(Marks { undone: Undone::read(repo)?, seen: Seen::read(repo)?, open: open_intents(repo)? })
    }

    /// Add what concerns this shadow to its evidence.
    pub fn apply(&self, evidence: &mut Evidence) {
        let intent = self.open.iter().find(|intent| concerns(intent, &evidence.shadow));
        evidence.pending = intent.map(|intent| intent.pending.clone());
        let branch = evidence.shadow.branch.as_ref();
        let Some((name, tip)) = branch.and_then(|branch| Some((branch.name.as_bstr(), branch.tip?))) else { return };
        if let Some(facts) = &mut evidence.branch {
            facts.undone = Fact::Known(self.undone.has(name, &tip));
        }
        if evidence.age == Fact::Known(Age { newest: None }) {
            evidence.age = Fact::Known(Age { newest: self.seen.first(name, &tip) });
        }
    }

    /// What interrupted operations have whole, so that nothing of it was found: shadows of their own.
    pub fn beside(&self, evidence: &[Evidence]) -> Vec<Evidence> {
        let unseen = self.open.iter().filter(|intent| !evidence.iter().any(|one| concerns(intent, &one.shadow)));
        unseen
            .map(|intent| Evidence {
                pending: Some(intent.pending.clone()),
                ..Evidence::not_asked(Shadow { name: name_of(intent), foreign: false, branch: None, worktree: None })
            })
            .collect()
    }
}

fn concerns(intent: &OpenIntent, shadow: &Shadow) -> bool {
    let id = shadow.worktree.as_ref().map(|registration| &registration.id);
    let branch = shadow.branch.as_ref().map(|branch| &branch.name);
    (id.is_some() && id == intent.registration.as_ref()) || branch.is_some_and(|b| intent.branches.contains(b))
}

fn name_of(intent: &OpenIntent) -> BString {
    let branch = intent.branches.first().map(|branch| short_name(branch.as_bstr()).to_owned());
    branch.or_else(|| intent.registration.clone()).unwrap_or_else(|| intent.pending.operation.as_str().into())
}
