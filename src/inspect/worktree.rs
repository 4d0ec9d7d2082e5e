//! Facts about a worktree and its registration.

use super::{Depth, Host};
use crate::git::Repository;
use crate::model::{Fact, Place, Registration, WorktreeFacts};
use crate::policy::Policy;
use crate::sys::tree::Snapshot;

/// What a probe of one worktree may look at.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The repository.
    pub repo: &'a Repository,
    /// A handle of this thread.
    pub gix: &'a gix::Repository,
    /// The policy.
    pub policy: &'a Policy,
    /// The machine.
    pub host: &'a Host,
    /// Every registration of the repository, foreign ones too.
    pub registrations: &'a [Registration],
}

/// Where the worktrees of all registrations are, judged together (section 5: when more than half of them are away
/// without a parent, none is purged). In the order of `scene.registrations`.
pub fn places(scene: Scene<'_>) -> Vec<Fact<Place>> {
    scene.registrations.iter().map(|_| Fact::NotAsked).collect()
}

/// All facts about the registration's worktree that need no ref walk: lock, operation, status, hidden edits, ignored,
/// undeletable, nested, submodules, current, private refs' files, staged. `place` is known already.
/// `in_use`, `unpushed`, `head_landing`, `own_work` are filled in by others.
pub fn probe(_scene: Scene<'_>, _registration: &Registration, place: &Fact<Place>, _depth: Depth) -> WorktreeFacts {
    WorktreeFacts { place: place.clone(), ..WorktreeFacts::default() }
}

/// Every entry of a present worktree with why it may go; an error where an entry has no class or cannot be read.
///
/// # Errors
/// Names the first entry that nothing proves.
pub fn snapshot(_scene: Scene<'_>, _registration: &Registration) -> crate::error::Result<Snapshot> {
    Err(crate::error::Error::failed("snapshot", "not written yet"))
}

/// Ask git itself whether the worktree is clean: the gate before anything moves.
///
/// # Errors
/// When git cannot say.
pub fn git_status(_repo: &Repository, _registration: &Registration) -> crate::error::Result<crate::model::Status> {
    Err(crate::error::Error::failed("status", "not written yet"))
}
