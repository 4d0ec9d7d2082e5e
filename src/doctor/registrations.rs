//! Registrations: those that `git worktree prune` would drop though nothing proves them gone, stale locks, too many.

use gix::bstr::ByteSlice as _;

use super::{Found, Scene};
use crate::error::Result;
use crate::inspect::worktree::{lock, staged, unkept};
use crate::journal::Journal;
use crate::lease::own;
use crate::model::{Fact, Finding, Head, LockKind, Place, Registration, Trouble, shell, short_name};
use crate::sys::sandbox::REGISTRATIONS;
use crate::sys::tree;

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for (registration, place) in scene.worktrees() {
        match lock(registration)? {
            None => found.extend(prunable(scene, registration, place)?),
            Some(lock) => found.extend(stale_lock(scene, registration, &lock)),
        }
    }
    for (path, error) in own::unreadable(scene.repo) {
        let remedy = format!("mv {0} {1}", shell::path(&path), shell::path(&super::words::aside(&path)));
        let mut finding = Finding::new(Trouble::CorruptLease, error).remedy(remedy).at(path);
        finding.detail = Some("it holds what it may name; once its session has ended it can be moved aside".into());
        found.push(finding);
    }
    let number = scene.discovery.registrations.len();
    if number >= REGISTRATIONS {
        let message =
            format!("{number} worktrees are registered; sandboxes of agents fail from about {REGISTRATIONS} on");
        found.push(Finding::new(Trouble::Crowded, message).remedy(format!("{} shadow prune-sessions", scene.git)));
    }
    Ok(found.into_iter().map(Found::from).collect())
}

/// As git tells it: `prune` asks only whether what `gitdir` names exists.
fn prunable(scene: &Scene<'_>, registration: &Registration, place: &Fact<Place>) -> Result<Option<Finding>> {
    let link = registration.path.as_ref().map(|path| path.join(".git"));
    if let Some(link) = &link
        && tree::stat(link)?.is_some()
    {
        return Ok(None);
    }
    let (why, remedy) = match place {
        Fact::Known(Place::Missing { why, remedy }) => (why.clone(), Some(remedy.clone())),
        Fact::Known(Place::NotOurs(why)) | Fact::Unknown(why) => (why.clone(), None),
        Fact::Known(Place::Present | Place::Purged(_)) | Fact::NotApplicable | Fact::NotAsked => return Ok(None),
    };
    let mut lost = Vec::new();
    match staged(scene.inspected(), registration) {
        Ok(paths) if paths.is_empty() => {}
        Ok(paths) => lost.push(format!("{} staged", super::words::count(paths.len(), "path"))),
        Err(error) => lost.push(format!("its index ({error})")),
    }
    if let Head::Detached(commit) = &registration.head {
        lost.push(format!("its detached HEAD at {}", commit.to_hex_with_len(7)));
    }
    match unkept(scene.inspected(), registration) {
        Ok(refs) => lost.extend(refs.iter().map(|name| format!("'{name}'"))),
        Err(error) => lost.push(format!("its private refs ({error})")),
    }
    if tree::stat(&registration.git_dir.join("modules"))?.is_some() {
        lost.push("the repositories of its submodules".into());
    }
    lost.push("its reflog".into());
    let message = format!("git would prune worktree '{}', though {why}", registration.id);
    let mut finding = Finding::new(Trouble::Prunable, message);
    finding.detail = Some(format!("with it would go {}", lost.join(", ")));
    finding.path.clone_from(&registration.path);
    Ok(Some(match (&registration.path, remedy) {
        (_, Some(repair)) if repair.starts_with("git worktree repair '") => {
            finding.remedy(repair.replacen("git", &scene.git, 1))
        }
        (Some(path), _) => finding.remedy(format!("{} worktree lock {}", scene.git, shell::path(path))),
        (None, remedy) => Finding { remedy, ..finding },
    }))
}

fn stale_lock(scene: &Scene<'_>, registration: &Registration, lock: &crate::model::Lock) -> Option<Finding> {
    let why = match &lock.kind {
        LockKind::Process { pid, stale: true } => format!("process {pid}, which is gone"),
        LockKind::Releasing => {
            let operation = lock.reason.to_str_lossy().trim().trim_start_matches("git-shadow ").to_owned();
            let ids = Journal::of(scene.repo).survey().ok()?;
            if ids.iter().any(|(id, _)| *id == operation) {
                return None;
            }
            format!("operation {operation}, which is not in the journal")
        }
        LockKind::ByHand | LockKind::Initializing | LockKind::Undone | LockKind::Process { .. } => return None,
    };
    let message = format!("worktree '{}' is locked by {why}", registration.id);
    let shadow = scene.discovery.shadows.iter().find(|shadow| {
        !shadow.foreign && shadow.worktree.as_ref().is_some_and(|worktree| worktree.id == registration.id)
    });
    let releases = matches!(lock.kind, LockKind::Process { .. });
    let path = registration.path.as_deref().unwrap_or(&registration.git_dir);
    let remedy = match shadow.filter(|_| releases) {
        Some(shadow) => {
            let name = shadow.branch.as_ref().map_or(registration.id.as_bstr(), |b| short_name(b.name.as_bstr()));
            format!("{} shadow release {}", scene.git, shell::word(name))
        }
        None => format!("{} worktree unlock {}", scene.git, shell::path(path)),
    };
    let mut finding = Finding::new(Trouble::StaleLock, message).remedy(remedy).at(path);
    if shadow.is_some() && releases {
        let unlock = format!("{} worktree unlock {}", scene.git, shell::path(path));
        finding.detail = Some(format!("where something else holds it: {unlock}"));
    }
    Some(finding)
}
