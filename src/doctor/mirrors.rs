//! Remotes that would drop the pins: by fetching over them, or by taking them along when they mirror.

use gix::bstr::{BString, ByteSlice as _};

use super::words::quoted;
use super::{Found, Scene};
use crate::error::Result;
use crate::inspect::mirror::{self, EXCLUSION};
use crate::journal::{ConfigChange, Repair};
use crate::model::{Finding, Trouble};

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let mut found: Vec<Found> = Vec::new();
    for threat in mirror::threats(scene.repo) {
        let remote = threat.remote.to_str_lossy();
        let message =
            format!("a fetch from '{remote}' would overwrite or prune 'refs/shadow/*' ('{}')", threat.refspec);
        let finding = Finding::new(Trouble::Mirror, message);
        // One exclusion serves all refspecs of a remote.
        let is_told = |one: &Found| matches!(&one.fix, Some(super::Fix::Repair(name, _)) if *name == threat.remote);
        found.push(if !threat.excludable {
            let key = quoted(&format!("remote.{remote}.fetch"));
            let spec = quoted(&threat.refspec.to_str_lossy());
            finding.remedy(format!("{} config --fixed-value --unset {key} {spec}", scene.git)).into()
        } else {
            let key = quoted(&format!("remote.{remote}.fetch"));
            let finding = finding.remedy(format!("{} config --add {key} {}", scene.git, quoted(EXCLUSION)));
            if found.iter().any(is_told) {
                continue;
            }
            Found::repaired(finding, threat.remote.clone(), exclude(&threat.remote))
        });
    }
    Ok(found)
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
