//! Fetch refspecs that would drop the pins.

use crate::git::Repository;
use crate::model::Fact;

/// Fetch refspecs that would overwrite or prune `refs/shadow/*`, with their remote.
pub fn mirror(_repo: &Repository) -> Fact<Vec<(String, String)>> {
    Fact::Known(Vec::new())
}
