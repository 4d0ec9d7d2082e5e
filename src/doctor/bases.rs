//! What is known of the bases: without one nothing is released, and what landed since the last fetch is not seen.

use gix::bstr::ByteSlice as _;
use jiff::SignedDuration;

use super::{Found, Scene};
use crate::error::Result;
use crate::model::{Fact, Finding, Trouble, short_name};

/// So long a base may go without a fetch.
const STALE: SignedDuration = SignedDuration::from_hours(7 * 24);

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    // Without shadows nobody waits for a base.
    if scene.discovery.shadows.iter().all(|shadow| shadow.foreign) {
        return Ok(Vec::new());
    }
    let bases = match &scene.bases {
        Fact::Known(bases) => bases,
        Fact::Unknown(why) => return Ok(vec![unresolved(why).into()]),
        Fact::NotApplicable | Fact::NotAsked => return Ok(Vec::new()),
    };
    let remote = bases.iter().filter(|base| base.name.starts_with(b"refs/remotes/"));
    let stale = remote.filter_map(|base| {
        let age = base.fetched_at.map(|at| scene.host.now.duration_since(at));
        let shown = short_name(base.name.as_ref()).to_str_lossy();
        let message = match age {
            None => format!("nothing tells when base '{shown}' was last fetched"),
            Some(age) if age > STALE => format!("base '{shown}' was last fetched {} days ago", age.as_hours() / 24),
            Some(_) => return None,
        };
        let remedy = format!("{} shadow prune-sessions --fetch", scene.git);
        Some(Finding::new(Trouble::StaleBase, message).remedy(remedy).of(base.name.clone()).into())
    });
    Ok(stale.collect())
}

/// The reason ends with what would help.
fn unresolved(why: &str) -> Finding {
    let (what, remedy) = why.rsplit_once("; ").unwrap_or((why, ""));
    let finding = Finding::new(Trouble::BaseUnresolved, what);
    if remedy.is_empty() { finding } else { finding.remedy(remedy) }
}
