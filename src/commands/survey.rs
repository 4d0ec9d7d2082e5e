//! discover → inspect → judge for one repository: what every command starts from.

use std::collections::HashSet;

use gix::bstr::BString;

use crate::discover::discover;
use crate::error::Result;
use crate::git::Repository;
use crate::inspect::{Depth, Host, inspect, marks};
use crate::judge::{Judgement, Terms, judge};
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
    repo: &Repository,
    policy: &Policy,
    host: &Host,
    only: Option<&HashSet<BString>>,
    depth: Depth,
    terms: Terms,
) -> Result<Survey> {
    let discovery = discover(repo, &repo.local(), policy, &host.leases)?;
    let (facts, mut evidence) = inspect(repo, policy, host, &discovery, only, depth);
    marks::apply(repo, &mut evidence)?;
    let mut judgements = judge(evidence, &facts, policy, terms, host.now);
    if let Some(only) = only {
        judgements.retain(|judgement| only.contains(&judgement.evidence.shadow.name));
    }
    Ok(Survey { facts, judgements })
}
