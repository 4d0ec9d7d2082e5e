//! Fetch refspecs that would drop the pins: a mirror's `+refs/*:refs/*` overwrites `refs/shadow/*`, and with pruning
//! deletes what the remote does not have.

use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::git::Repository;
use crate::model::Fact;

/// Where the pins are.
const PINS: &[u8] = b"refs/shadow/";

/// The refspec that keeps a remote's own refs of that name out.
pub const EXCLUSION: &str = "^refs/shadow/*";

/// A fetch refspec that would overwrite or prune the pins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Threat {
    /// The remote.
    pub remote: BString,
    /// The refspec.
    pub refspec: BString,
    /// [`EXCLUSION`] keeps it from that.
    pub excludable: bool,
}

/// Fetch refspecs that would overwrite or prune `refs/shadow/*`, with their remote.
pub fn mirror(repo: &Repository) -> Fact<Vec<(String, String)>> {
    Fact::Known(threats(repo).iter().map(|one| (one.remote.to_string(), one.refspec.to_string())).collect())
}

/// The same, whole. One that a negative refspec of the same remote (`^refs/shadow/*`) keeps from it is not told. Whether
/// the remote has a URL does not matter: `git fetch` takes its name for one.
pub fn threats(repo: &Repository) -> Vec<Threat> {
    let gix = repo.local();
    let config = gix.config_snapshot();
    let mut remotes: Vec<(BString, Vec<BString>)> = Vec::new();
    for section in config.plumbing().sections_by_name("remote").into_iter().flatten() {
        let Some(name) = section.header().subsection_name() else { continue };
        // A remote may have several sections, in several files.
        match remotes.iter_mut().find(|(known, _)| known == name) {
            Some((_, refspecs)) => refspecs.extend(section.values("fetch")),
            None => remotes.push((name.to_owned(), section.values("fetch"))),
        }
    }
    let mut found = Vec::new();
    for (name, refspecs) in &remotes {
        let reaching = refspecs.iter().filter(|spec| reaches_pins(spec.as_ref(), refspecs));
        found.extend(reaching.map(|spec| {
            let source = source_of_pins(spec.as_ref());
            let excludable =
                source.is_some_and(|source| excludes(EXCLUSION.trim_start_matches('^').as_bytes(), &source));
            Threat { remote: name.clone(), refspec: spec.clone(), excludable }
        }));
    }
    found
}

fn reaches_pins(refspec: &BStr, all: &[BString]) -> bool {
    let Some(source) = source_of_pins(refspec) else { return false };
    !all.iter().filter_map(|spec| spec.strip_prefix(b"^")).any(|negative| excludes(negative, &source))
}

/// What the names of those refs of the remote begin with that a refspec would write among the pins; `None`: no ref.
fn source_of_pins(refspec: &BStr) -> Option<Vec<u8>> {
    let spec = refspec.strip_prefix(b"+").unwrap_or(refspec);
    let (from, to) = spec.split_once_str(b":")?;
    match (from.split_once_str(b"*"), to.split_once_str(b"*")) {
        (Some((before, _)), Some((prefix, _))) => {
            if let Some(inside) = PINS.strip_prefix(prefix) {
                return Some([before, inside].concat());
            }
            prefix.starts_with(PINS).then(|| before.to_vec())
        }
        _ => to.starts_with(PINS).then(|| from.to_vec()),
    }
}

/// Whether a negative refspec leaves out every such ref.
fn excludes(negative: &[u8], source: &[u8]) -> bool {
    match negative.split_once_str(b"*") {
        Some((prefix, suffix)) => suffix.is_empty() && source.starts_with(prefix),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::reaches_pins;

    #[test]
    fn what_would_overwrite_or_prune_the_pins() {
        let negative = "^refs/shadow/*";
        for (refspecs, reaches) in [
            (&["+refs/*:refs/*"][..], true),
            (&["refs/*:refs/*"], true),
            (&["+refs/s*:refs/s*"], true),
            (&["+refs/heads/*:refs/shadow/*"], true),
            (&["+refs/pull/*/head:refs/shadow/pull/*"], true),
            (&["+refs/heads/main:refs/shadow/main"], true),
            (&["+refs/heads/*:refs/remotes/origin/*"], false),
            (&["+refs/heads/*:refs/heads/*"], false),
            (&["+refs/*:refs/remotes/mirror/*"], false),
            (&["refs/heads/main"], false),
            (&["+refs/shadowy/*:refs/shadowy/*"], false),
            (&["+refs/*:refs/*", negative], false),
            (&["+refs/*:refs/*", "^refs/*"], false),
            (&["+refs/*:refs/*", "^refs/shadow/x"], true),
            (&["+refs/*:refs/*", "^refs/shadow/*/x"], true),
            (&["+refs/*:refs/*", "^refs/shadow/x/*"], true),
            (&["+refs/heads/*:refs/shadow/*", negative], true),
            (&["+refs/heads/*:refs/shadow/*", "^refs/heads/*"], false),
        ] {
            let all: Vec<_> = refspecs.iter().map(|spec| (*spec).into()).collect();
            assert_eq!(reaches_pins(refspecs[0].into(), &all), reaches, "{refspecs:?}");
        }
    }
}
