//! Whether somebody may be at work in a worktree: then nothing of it is set right.

use gix::bstr::ByteSlice as _;

use super::Scene;
use crate::discover;
use crate::inspect::worktree;
use crate::model::{Fact, Head, Place, Registration, Use};
use crate::sys::tree;

/// Why a worktree must be left as it is; `None`: it is there, and provably nobody is at work in it. What cannot be told is
/// a reason.
pub(super) fn disturbs(scene: &Scene<'_>, registration: &Registration, place: &Fact<Place>) -> Option<String> {
    let unknown = |what: &str, why: &str| Some(format!("{what}: {why}"));
    let path = match (place, &registration.path) {
        (Fact::Known(Place::Present), Some(path)) => path,
        (Fact::Unknown(why), _) => return unknown("cannot look at it", why),
        _ => return Some("its directory is away".into()),
    };
    let branch = match &registration.head {
        Head::Branch(name, _) => Some(name.as_bstr()),
        Head::Detached(_) | Head::Broken(_) => None,
    };
    let created = match discover::created(registration) {
        Ok(created) => created,
        Err(error) => return unknown("cannot tell when it was made", &error.message),
    };
    match scene.discovery.leases.naming(scene.repo.path(), Some(path), branch, Some(created)) {
        Fact::Known(Some(lease)) if lease.is_live() => return Some(format!("session '{}' is at work in it", lease.id)),
        Fact::Unknown(why) => return unknown("cannot tell whether a session is at work in it", &why),
        Fact::Known(_) | Fact::NotApplicable | Fact::NotAsked => {}
    }
    match worktree::lock(registration) {
        Ok(None) => {}
        Ok(Some(_)) => return Some("it is locked".into()),
        Err(error) => return unknown("cannot read its lock", &error.message),
    }
    match worktree::in_progress(scene.repo, registration) {
        Ok(found) if found.is_empty() => {}
        Ok(found) => return found.into_iter().next(),
        Err(error) => return unknown("cannot tell whether something is in progress", &error.message),
    }
    let here = tree::stat(path).ok().flatten().map(|found| (found.dev, found.ino));
    match (&scene.host.here, here) {
        (Fact::Known(chain), Some(place)) if !chain.contains(&place) => {}
        (Fact::Unknown(why), _) => return unknown("cannot tell where you are", why),
        _ => return Some("you are inside".into()),
    }
    in_use(scene, path)
}

fn in_use(scene: &Scene<'_>, path: &std::path::Path) -> Option<String> {
    let path = match fs_err::canonicalize(path) {
        Ok(path) => path,
        Err(error) => return Some(error.to_string()),
    };
    let processes = match &scene.host.processes {
        Fact::Known(processes) => processes,
        Fact::Unknown(why) => return Some(format!("cannot tell who is inside: {why}")),
        Fact::NotApplicable | Fact::NotAsked => return Some("nobody looked who is inside".into()),
    };
    processes.inside(&[path]).into_iter().flatten().next().map(|user| match user {
        Use::Process { pid, name, what, .. } => format!("process {pid} ({name}) has its {what} inside"),
        Use::Mount(point) => format!("'{}' is mounted", point.display()),
    })
}
