//! Graces: how long what kind of shadow is left alone.

use std::time::Duration;

use gix::bstr::ByteSlice as _;

use super::rules::{Case, hold};
use super::standing::Standing;
use crate::model::{Code, Evidence, Fact, Hold, LeaseState, On, Place, Timestamp};
use crate::policy::Policy;

/// How long ago; a time in the future is no age at all.
pub(super) fn since(time: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(time)).unwrap_or(Duration::ZERO)
}

/// The longest grace that applies, and why.
fn applies(evidence: &Evidence, standing: &Standing, policy: &Policy) -> Option<(Duration, String)> {
    let mut graces = Vec::new();
    let purged = matches!(evidence.worktree.as_ref().map(|w| &w.place), Some(Fact::Known(Place::Purged(_))));
    if purged {
        graces.push((*policy.grace.purged, "its files are gone".to_owned()));
    }
    match standing {
        Standing::Unused(_) => graces.push((*policy.grace.unused, "no work of its own".to_owned())),
        Standing::Landed(_) => graces.push((*policy.grace.landed, "landed".to_owned())),
        Standing::Pushed((name, _)) if !purged => {
            graces.push((*policy.grace.pushed, format!("pushed as {}", crate::model::short_name(name.as_bstr()))));
        }
        Standing::Pushed(_) | Standing::Unpushed(_) | Standing::Unknown => {}
    }
    if let Some(Some(lease)) = evidence.lease.known()
        && lease.state == LeaseState::Dead
        && lease.finished.is_none()
    {
        graces.push((*policy.grace.dead, format!("session '{}' ended unfinished", lease.id)));
    }
    graces.into_iter().max_by_key(|(grace, _)| *grace)
}

/// A finished session waits for no grace.
fn is_finished(evidence: &Evidence) -> bool {
    let lease = evidence.lease.known().and_then(Option::as_ref);
    lease.is_some_and(|lease| lease.finished.is_some() || lease.state == LeaseState::Released)
}

pub(super) fn grace(case: &Case<'_>) -> Vec<Hold> {
    if case.terms.named || is_finished(case.evidence) {
        return Vec::new();
    }
    let Some((grace, why)) = applies(case.evidence, &case.standing, case.policy) else { return Vec::new() };
    let Some(age) = case.evidence.age.known() else { return Vec::new() };
    let Some(newest) = age.newest else {
        if grace.is_zero() {
            return Vec::new();
        }
        let message = format!("{why}; its age counts from the first real run that sees it");
        return vec![hold(Code::Grace, On::Both, message, "git shadow prune-sessions --yes starts the count")];
    };
    let age = since(newest, case.now);
    if age >= grace {
        return Vec::new();
    }
    let message = format!("{why}, {} old, kept for {}", short(age), short(grace));
    vec![hold(Code::Grace, On::Both, message, "wait, or 'git shadow release <shadow>'")]
}

/// When the last grace ends.
pub(super) fn eligible_at(evidence: &Evidence, standing: &Standing, policy: &Policy) -> Option<Timestamp> {
    let (grace, _) = applies(evidence, standing, policy)?;
    evidence.age.known()?.newest?.checked_add(grace).ok()
}

/// `5s`, `12m`, `3h`, `4d`: one unit, rounded down, as lists show ages.
fn short(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}
