//! discover → inspect → judge for one repository: what every command starts from.

use std::collections::HashSet;

use gix::bstr::BString;

use crate::error::Result;
use crate::git::Repository;
use crate::inspect::{Depth, Host};
use crate::judge::{Judgement, Terms};
use crate::model::RepositoryFacts;
use crate::policy::Policy;

/// Judged shadows of a repository.
#[derive(Debug, Clone)]
pub struct Survey {
    /// Facts of the repository.
    pub facts: RepositoryFacts,
    /// Every shadow, foreign ones too, sorted by name.
    pub judgements: Vec<Judgement>,
}

/// Discover, inspect and judge. With `only`, shadows whose name is not in it are discovered (they count for
/// `checked-out` and the like) but neither inspected further nor returned.
///
/// # Errors
/// When the repository as a whole cannot be read.
pub fn survey(
    _repo: &Repository,
    _policy: &Policy,
    _host: &Host,
    _only: Option<&HashSet<BString>>,
    _depth: Depth,
    _terms: Terms,
) -> Result<Survey> {
    Err(crate::error::Error::failed("survey", "not written yet"))
}
