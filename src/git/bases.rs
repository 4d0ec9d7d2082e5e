//! Which refs work lands on (DESIGN section 2). Nothing is guessed.

use super::Repository;
use crate::model::{Base, Fact};
use crate::policy::Policy;

/// The bases of a repository as policy names them; `Unknown` is `base-unresolved` and names what would fix it.
pub fn resolve(_repo: &Repository, _policy: &Policy) -> Fact<Vec<Base>> {
    Fact::Unknown("not resolved yet".into())
}
