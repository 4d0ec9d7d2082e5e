//! A shadow in a place that is not its own: a base's branch checked out in a shadow's worktree, so that git lets nobody
//! else have it, or a shadow's branch in the main worktree.

use gix::bstr::{BStr, BString, ByteSlice as _};

use super::{Found, Scene, quiet};
use crate::error::{Error, Result, chain};
use crate::inspect::{protect, reflog};
use crate::journal::Repair;
use crate::model::{Finding, Head, Registration, Trouble, shell, short_name};

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let mut found: Vec<Found> = main_worktree(scene)?.into_iter().map(Found::from).collect();
    let bases = scene.base_branches();
    for (registration, place) in scene.worktrees() {
        let Head::Branch(branch, commit) = &registration.head else { continue };
        let Some(path) = &registration.path else { continue };
        let primary = protect::primary(scene.repo, &scene.bases, path);
        if let Some(base) = &primary
            && scene.policy.is_shadow_branch(branch.as_ref())
        {
            let what = format!("worktree '{}' of the base '{}'", path.display(), short_name(base.as_ref()));
            found.push(on_shadow(scene, &what, branch, &format!("git -C {}", shell::path(path))).at(path).into());
        }
        if !bases.contains(branch) || primary.is_some() || !is_shadows(scene, registration)? {
            continue;
        }
        let shown = short_name(branch.as_ref());
        let message = format!("shadow's worktree '{}' has '{shown}' checked out: nothing else can", path.display());
        let mut finding = Finding::new(Trouble::Squatting, message)
            .remedy(format!("git -C {} switch --detach", shell::path(path)))
            .at(path)
            .of(branch.clone());
        finding.detail = quiet::disturbs(scene, registration, place);
        found.push(match (commit, &finding.detail) {
            (Some(at), None) => {
                let repair = Repair::DetachHead { id: registration.id.clone(), branch: branch.clone(), at: *at };
                Found::repaired(finding, registration.id.clone(), repair)
            }
            _ => finding.into(),
        });
    }
    Ok(found)
}

fn main_worktree(scene: &Scene<'_>) -> Result<Option<Finding>> {
    let Some(path) = scene.repo.work_dir() else { return Ok(None) };
    let head = scene.gix.head_name().map_err(|e| Error::failed("head", format!("cannot read HEAD: {}", chain(&e))))?;
    let branch = head.map(|name| name.as_bstr().to_owned());
    let branch = branch.filter(|name| scene.policy.is_shadow_branch(name.as_ref()));
    let what = format!("main worktree '{}'", path.display());
    Ok(branch.map(|branch| on_shadow(scene, &what, &branch, &scene.git).at(path)))
}

fn on_shadow(scene: &Scene<'_>, what: &str, branch: &BString, git: &str) -> Finding {
    let message = format!("{what} is on the shadow's branch '{}'", short_name(branch.as_ref()));
    let base = scene.base_branches().into_iter().next();
    let to = base.map_or("<branch>".into(), |base| shell::word(short_name(base.as_ref())));
    Finding::new(Trouble::OnShadow, message).remedy(format!("{git} switch {to}")).of(branch.clone())
}

/// Whether a worktree was made for a session, whatever it has checked out by now: by its place, by a lease that names it,
/// or because the branch that it was made with is a shadow's.
fn is_shadows(scene: &Scene<'_>, registration: &Registration) -> Result<bool> {
    let Some(path) = &registration.path else { return Ok(false) };
    let leases = &scene.discovery.leases;
    if scene.policy.is_under_root(path) || leases.all().any(|lease| lease.worktrees.contains(path)) {
        return Ok(true);
    }
    let log = reflog::read(&registration.git_dir.join("logs/HEAD"))?;
    let first = log.iter().find_map(|entry| moved_from(entry.message.as_ref()));
    Ok(first.is_some_and(|branch| scene.policy.is_shadow_branch(branch.as_ref())))
}

/// `refs/heads/a` of `checkout: moving from a to b`.
fn moved_from(message: &BStr) -> Option<BString> {
    let rest = message.strip_prefix(b"checkout: moving from ")?;
    let (from, _) = rest.split_once_str(" to ")?;
    Some([b"refs/heads/", from].concat().into())
}
