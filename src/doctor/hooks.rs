//! Hooks that are there and do nothing: git looks elsewhere, cannot run them, or the program that they call is gone.

use std::path::PathBuf;

use super::{Found, Scene};
use crate::error::Result;
use crate::hooks::called;
use crate::hooks::failure::{self, Failure};
use crate::hooks::install::Site;
use crate::model::{Event, Finding, Hook, HookState, Trouble, shell};
use crate::sys::tree;

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let git = &scene.git;
    let mut found = Vec::new();
    let site = Site::of(scene.repo, scene.repo.path(), None)?;
    let (dir, scope) = site.place();
    if let Some(scope) = scope
        && tree::stat(dir)?.is_none()
    {
        let message = format!("core.hooksPath ({scope}) names '{}', which is not there: no hook runs", dir.display());
        let remedy = format!("{git} config --{scope} --unset core.hooksPath");
        found.push(Finding::new(Trouble::Hooks, message).remedy(remedy).at(dir));
    }
    for event in Event::ALL {
        let hook = site.look(event)?;
        found.extend(stands(scene, &hook).or(left_alone(scene, &hook, site.kept(event))?));
    }
    if let Ok(Some(failure)) = Failure::read(scene.repo) {
        let ago = scene.host.now.duration_since(failure.time).as_hours();
        let file = failure::path(scene.repo);
        let message = format!("the {} hook failed {ago} hours ago: {}", failure.hook, failure.message);
        let remedy = format!("{git} shadow prune-sessions -n && rm {}", shell::path(&file));
        found.push(Finding::new(Trouble::Hooks, message).remedy(remedy).at(file));
    }
    Ok(found.into_iter().map(Found::from).collect())
}

/// What is wrong with a hook of ours.
fn stands(scene: &Scene<'_>, hook: &Hook) -> Option<Finding> {
    let event = hook.event.as_str();
    let why = hook.why.clone().unwrap_or_default();
    let install = format!("{} shadow hooks install", scene.git);
    let (message, remedy) = match hook.state {
        HookState::Bypassed => (format!("git does not call our {event} hook: {why}"), install),
        HookState::Replaced => (format!("git does not call our {event} hook: {why}"), hook.remedy.clone()?),
        HookState::Installed | HookState::Outdated | HookState::Edited => {
            let program = called(&fs_err::read(hook.path.as_deref()?).ok()?).filter(|program| !program.exists())?;
            (format!("our {event} hook calls '{}', which is not there", program.display()), install)
        }
        HookState::Absent | HookState::Needless | HookState::Managed => return None,
    };
    let finding = Finding::new(Trouble::Hooks, message).remedy(remedy);
    Some(Finding { path: hook.path.clone(), ..finding })
}

/// The hook that was there before ours waits for it, and nothing calls it.
fn left_alone(scene: &Scene<'_>, hook: &Hook, kept: PathBuf) -> Result<Option<Finding>> {
    let is_ours = matches!(hook.state, HookState::Installed | HookState::Outdated | HookState::Edited);
    if is_ours || tree::stat(&kept)?.is_none() {
        return Ok(None);
    }
    let event = hook.event.as_str();
    let message = format!("the {event} hook that was there before ours is '{}', and nothing calls it", kept.display());
    let remedy = format!("{} shadow hooks remove", scene.git);
    Ok(Some(Finding::new(Trouble::Hooks, message).remedy(remedy).at(kept)))
}
