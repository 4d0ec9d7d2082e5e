//! discover → inspect → judge for one repository: what every command starts from.

use std::collections::HashSet;

use gix::bstr::BString;

use crate::discover::discover;
use crate::error::Result;
use crate::git::Repository;
use crate::inspect::marks::Marks;
use crate::inspect::{Depth, Host, inspect};
use crate::judge::{Judgement, Terms, judge};
use crate::lease::Leases;
use crate::model::{Evidence, RepositoryFacts, Shadow, Timestamp};
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
    let marks = Marks::read(repo)?;
    let look = |only: Option<&HashSet<BString>>, depth| {
        let (facts, mut evidence) = inspect(repo, policy, host, &discovery, only, depth);
        evidence.iter_mut().for_each(|one| marks.apply(one));
        (facts, evidence)
    };
    let (facts, mut evidence) = look(only, depth);
    evidence.extend(marks.beside(&evidence));
    evidence.sort_by(|a, b| a.shadow.name.cmp(&b.shadow.name));
    let mut judgements = judge(evidence, &facts, policy, terms, host.now);
    let is_left_open = |judgement: &&Judgement| judgement.wants_more();
    let more: HashSet<BString> =
        judgements.iter().filter(is_left_open).map(|j| j.evidence.shadow.name.clone()).collect();
    if !more.is_empty() {
        let mut again = look(Some(&more), Depth::Everything).1;
        again.retain(|one| more.contains(&one.shadow.name));
        // A worktree on no branch may have the name of a branch elsewhere.
        let mut fresh = |j: Judgement| {
            let found = again.iter().position(|one| one.shadow == j.evidence.shadow);
            found.map_or(j.evidence, |at| again.swap_remove(at))
        };
        let evidence = judgements.into_iter().map(&mut fresh).collect();
        judgements = judge(evidence, &facts, policy, terms, host.now);
    }
    if let Some(only) = only {
        judgements.retain(|judgement| only.contains(&judgement.evidence.shadow.name));
    }
    Ok(Survey { facts, judgements })
}

/// The same; with `only`, of just these shadows.
///
/// # Errors
/// As [`survey`].
pub fn of(
    repo: &Repository,
    policy: &Policy,
    host: &Host,
    only: Option<&[Shadow]>,
    depth: Depth,
    terms: Terms,
) -> Result<Survey> {
    let names = only.map(|only| only.iter().map(|shadow| shadow.name.clone()).collect());
    let mut survey = survey(repo, policy, host, names.as_ref(), depth, terms)?;
    if let Some(only) = only {
        // A worktree on no branch may have the name of a branch elsewhere.
        survey.judgements.retain(|judgement| only.contains(&judgement.evidence.shadow));
    }
    Ok(survey)
}

/// Discover only: names and places of all shadows that [`survey`] finds, and nothing said of what becomes of them.
///
/// # Errors
/// When the repository as a whole cannot be read.
pub fn named(repo: &Repository, policy: &Policy, leases: &Leases, now: Timestamp) -> Result<Survey> {
    let shadows = discover(repo, &repo.local(), policy, leases)?.shadows;
    let mut evidence: Vec<Evidence> = shadows.into_iter().map(Evidence::not_asked).collect();
    evidence.extend(Marks::read(repo)?.beside(&evidence));
    evidence.sort_by(|a, b| a.shadow.name.cmp(&b.shadow.name));
    let facts = RepositoryFacts::default();
    let judgements = judge(evidence, &facts, policy, Terms::default(), now);
    Ok(Survey { facts, judgements })
}
