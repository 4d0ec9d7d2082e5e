//! Remotes that would drop the pins: by fetching over them, or by taking them along when they mirror.

use gix::bstr::{BString, ByteSlice as _};

use super::{Found, Scene};
use crate::error::Result;
use crate::inspect::mirror::{self, EXCLUSION};
use crate::journal::{ConfigChange, Repair};
use crate::model::{Finding, Trouble, shell};

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let mut found: Vec<Found> = Vec::new();
    if !scene.is_used() {
        return Ok(found);
    }
    for threat in mirror::threats(scene.repo) {
        let remote = threat.remote.to_str_lossy();
        let message =
            format!("a fetch from '{remote}' would overwrite or prune 'refs/shadow/*' ('{}')", threat.refspec);
        let finding = Finding::new(Trouble::Mirror, message);
        // One exclusion serves all refspecs of a remote.
        let is_told = |one: &Found| matches!(&one.fix, Some(super::Fix::Repair(name, _)) if *name == threat.remote);
        found.push(if !threat.excludable {
            let key = shell::word(format!("remote.{remote}.fetch"));
            let spec = shell::word(threat.refspec);
            finding.remedy(format!("{} config --fixed-value --unset {key} {spec}", scene.git)).into()
        } else {
            let key = shell::word(format!("remote.{remote}.fetch"));
            let finding = finding.remedy(format!("{} config --add {key} {}", scene.git, shell::word(EXCLUSION)));
            if found.iter().any(is_told) {
                continue;
            }
            Found::repaired(finding, threat.remote.clone(), exclude(&threat.remote))
        });
    }
    found.extend(pushes(scene).into_iter().map(Found::from));
    Ok(found)
}

/// Remotes that a push makes the same as this repository, pins and all.
fn pushes(scene: &Scene<'_>) -> Vec<Finding> {
    let config = scene.gix.config_snapshot();
    let mut found = Vec::new();
    for remote in scene.gix.remote_names() {
        if config.boolean(format!("remote.{remote}.mirror").as_str()) != Some(true) {
            continue;
        }
        let pushed = config.plumbing().raw_values_by("remote", Some(remote.as_bstr()), "push").unwrap_or_default();
        if pushed.iter().any(|spec| *spec == EXCLUSION) {
            continue;
        }
        let key = shell::word(format!("remote.{remote}.push"));
        let add = |spec: &str| format!("{} config --add {key} {}", scene.git, shell::word(spec));
        let message = format!("'git push {remote}' mirrors: it would publish 'refs/shadow/*'");
        let remedy = format!("{} && {}", add("+refs/*:refs/*"), add(EXCLUSION));
        found.push(Finding::new(Trouble::MirrorPush, message).remedy(remedy));
    }
    found
}

fn exclude(remote: &BString) -> Repair {
    Repair::ExcludePins {
        changes: vec![ConfigChange {
            section: "remote".into(),
            subsection: remote.clone(),
            key: "fetch".into(),
            before: None,
            after: Some(EXCLUSION.into()),
        }],
    }
}
