//! Facts about a worktree and its registration: which probes are asked, and in what order.

use std::path::{Path, PathBuf};

use super::status::Checkout;
use super::{Depth, Host, files, hidden_edits, ignored, status, submodule};
use crate::error::Result;
use crate::git::Repository;
use crate::model::{Fact, LockKind, Place, Registration, Status, WorktreeFacts};
use crate::policy::Policy;
use crate::sys::tree;

pub use super::lock::lock;
pub use super::operation::{in_progress, of_git_dir};
pub use super::place::{names as linked_to, places};
pub use super::private_refs::unkept;
pub use super::snapshot::snapshot;
pub use super::staged::staged;
pub use super::status::git_status;

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

/// All facts about the registration's worktree that need no ref walk: lock, operation, status, hidden edits, ignored,
/// undeletable, nested, submodules, current, private refs, staged. `place` is known already. The others are filled in by
/// those who know the repository and the machine.
pub fn probe(scene: Scene<'_>, registration: &Registration, place: &Fact<Place>, depth: Depth) -> WorktreeFacts {
    let mut facts = WorktreeFacts {
        place: place.clone(),
        lock: lock(registration).into(),
        operation: in_progress(scene.repo, registration).into(),
        private_refs: unkept(scene, registration).into(),
        ..WorktreeFacts::default()
    };
    match (place.known(), &registration.path) {
        (Some(Place::Present), Some(root)) => present(scene, registration, root, depth, &mut facts),
        (Some(Place::Purged(_)), _) => {
            without_files(&mut facts);
            facts.staged = staged(scene, registration).into();
            facts.submodules = submodule::holds(scene, registration, None).into();
        }
        // Its place holds it, whatever else there is to say.
        _ => without_files(&mut facts),
    }
    facts
}

fn without_files(facts: &mut WorktreeFacts) {
    facts.current = Fact::NotApplicable;
    facts.status = Fact::NotApplicable;
    facts.hidden_edits = Fact::NotApplicable;
    facts.ignored = Fact::NotApplicable;
    facts.ignored_deep = Fact::NotApplicable;
    facts.undeletable = Fact::NotApplicable;
    facts.nested_repositories = Fact::NotApplicable;
    facts.nested_worktrees = Fact::NotApplicable;
    facts.submodules = Fact::NotApplicable;
    facts.staged = Fact::NotApplicable;
}

fn present(scene: Scene<'_>, registration: &Registration, root: &Path, depth: Depth, facts: &mut WorktreeFacts) {
    facts.staged = Fact::NotApplicable;
    facts.nested_worktrees = nested_worktrees(scene, root).into();
    match tree::stat(root) {
        Ok(Some(found)) => {
            facts.root = Some((found.dev, found.ino));
            facts.current = scene.host.here.clone_map(|here| here.contains(&(found.dev, found.ino)));
        }
        Ok(None) => facts.current = Fact::Unknown(format!("'{}' is gone", root.display())),
        Err(error) => facts.current = Fact::Unknown(error.to_string()),
    }
    let checkout = Checkout::of(scene, registration, root);
    let mut reading = match status::read(checkout) {
        Ok(reading) => reading,
        Err(error) => return unread(facts, &error.to_string()),
    };
    let status = std::mem::replace(&mut reading.status, Ok(Status::default())).map(|mut status| {
        status.untracked.retain(|path| !ignored::is_saved_untracked(scene, root, path.as_ref()));
        status
    });
    facts.status = status.into();
    let shallow = ignored::shallow(scene, root, &reading.found.ignored);
    let mut repositories = reading.found.repositories.clone();
    let mut rebuildable = Vec::new();
    facts.ignored = match shallow {
        Ok(worth) => {
            repositories.extend(worth.repositories);
            rebuildable = worth.rebuildable;
            Fact::Known(worth.held)
        }
        Err(error) => Fact::Unknown(error.to_string()),
    };
    let modules = registration.git_dir.join("modules");
    for path in &reading.found.submodules {
        match files::full(root, path.as_ref()).and_then(|at| submodule::git_dir(&at, &modules)) {
            Ok(Some(_)) => {}
            // What is said of the submodule tells more than that its link is broken.
            Ok(None) | Err(_) => repositories.push(path.clone()),
        }
    }
    let flagged = hidden_edits::flagged(checkout, &reading);
    if !reading.found.undeletable.is_empty() {
        facts.undeletable = Fact::Known(reading.found.undeletable.clone());
    }
    let held = is_held(facts) || !repositories.is_empty() || !matches!(&flagged, Ok(paths) if paths.is_empty());
    if depth == Depth::Thrifty && held {
        facts.nested_repositories = if repositories.is_empty() { Fact::NotAsked } else { Fact::Known(repositories) };
        facts.hidden_edits = match flagged {
            Ok(paths) if paths.is_empty() => Fact::NotAsked,
            flagged => flagged.into(),
        };
        return;
    }
    facts.hidden_edits = flagged
        .and_then(|mut paths| {
            paths.extend(if reading.plain {
                hidden_edits::once_converted(scene, &reading)?
            } else {
                hidden_edits::converted(checkout, &reading)?
            });
            paths.sort();
            paths.dedup();
            Ok(paths)
        })
        .into();
    facts.submodules = submodule::holds(scene, registration, Some((root, &reading))).into();
    match ignored::deep(scene, root, &reading.found.ignored, &rebuildable) {
        Ok((worth, undeletable)) => {
            repositories.extend(worth.repositories);
            facts.ignored_deep = Fact::Known(worth.held);
            facts.nested_repositories = Fact::Known(repositories);
            facts.undeletable = Fact::Known(reading.found.undeletable.into_iter().chain(undeletable).collect());
        }
        Err(error) => {
            facts.ignored_deep = Fact::Unknown(error.to_string());
            facts.nested_repositories = Fact::Unknown(error.to_string());
            facts.undeletable = Fact::Unknown(error.to_string());
        }
    }
}

/// The index or the tree cannot be read: nothing that depends on them is known.
fn unread(facts: &mut WorktreeFacts, error: &str) {
    facts.status = Fact::Unknown(error.to_owned());
    facts.hidden_edits = Fact::Unknown(error.to_owned());
    facts.ignored = Fact::Unknown(error.to_owned());
    facts.ignored_deep = Fact::Unknown(error.to_owned());
    facts.nested_repositories = Fact::Unknown(error.to_owned());
    facts.submodules = Fact::Unknown(error.to_owned());
    facts.undeletable = Fact::NotAsked;
}

/// Whether something cheap holds already. A lock that `release <shadow>` passes does not count.
fn is_held(facts: &WorktreeFacts) -> bool {
    fn holds<T>(fact: &Fact<T>, is_hold: impl Fn(&T) -> bool) -> bool {
        match fact {
            Fact::Known(value) => is_hold(value),
            Fact::Unknown(_) => true,
            Fact::NotApplicable | Fact::NotAsked => false,
        }
    }
    let passed = |kind: &LockKind| match kind {
        LockKind::ByHand | LockKind::Initializing | LockKind::Process { stale: false, .. } => false,
        LockKind::Undone | LockKind::Releasing | LockKind::Process { stale: true, .. } => true,
    };
    holds(&facts.lock, |lock| lock.as_ref().is_some_and(|lock| !passed(&lock.kind)))
        || holds(&facts.operation, |found| !found.is_empty())
        || holds(&facts.private_refs, |found| !found.is_empty())
        || holds(&facts.nested_worktrees, |found| !found.is_empty())
        || holds(&facts.current, |inside| *inside)
        || holds(&facts.status, |status| *status != Status::default())
        || holds(&facts.ignored, |found| !found.is_empty())
        || holds(&facts.undeletable, |found| !found.is_empty())
}

/// Registered worktrees below the root, as far as something is there. One that is spelled another way is found as a
/// repository.
fn nested_worktrees(scene: Scene<'_>, root: &Path) -> Result<Vec<PathBuf>> {
    let mut nested = Vec::new();
    for path in scene.registrations.iter().filter_map(|r| r.path.as_ref()) {
        if path != root && path.starts_with(root) && files::exists(path)? {
            nested.push(path.clone());
        }
    }
    Ok(nested)
}
