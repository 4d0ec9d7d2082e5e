//! `git shadow expire`: drop what is past its time.

use std::time::Duration;

use gix::ObjectId;
use serde::Serialize;

use super::fetch::Fetched;
use super::{Context, fleet, sweep};
use crate::error::{Error, Exit, Result};
use crate::execute::expire::{Expired, Proof, expire as expire_one};
use crate::execute::recover;
use crate::git::{Repository, bases};
use crate::journal::{Journal, Operation, Turns};
use crate::landing::{self, Range};
use crate::model::{Base, Fact, Landing, Timestamp};
use crate::policy::{self, Policy};
use crate::report::Format;
use crate::report::json::written;
use crate::sys::clock;

/// Drop what released shadows left, once it is past its time and nothing needs it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fetch the bases first: what only a remote-tracking ref shows counts only when it is fresh
    #[arg(long)]
    pub fetch: bool,
}

/// When something is past its time, and what counts as shown.
#[derive(Debug, Clone, Copy)]
pub struct Expiry {
    /// How long operations are kept.
    pub keep: Duration,
    /// The present.
    pub now: Timestamp,
    /// The bases were fetched in this run, so that what remote-tracking refs say is true today.
    pub fetched: bool,
}

impl Expiry {
    /// Until when the operation can be taken back.
    pub fn of(&self, operation: &Operation) -> Timestamp {
        until(operation, self.keep)
    }
}

/// Until when an operation is kept.
pub fn until(operation: &Operation, keep: Duration) -> Timestamp {
    operation.header.started.checked_add(keep).unwrap_or(Timestamp::MAX)
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    operations: Vec<Told>,
}

#[derive(Serialize)]
struct Told {
    operation: String,
    repository: String,
    state: &'static str,
    detail: Option<String>,
}

/// Run it.
///
/// # Errors
/// When the only repository cannot be read, or its lock is busy.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let mut failed = fleet::Failed::of(context);
    let mut operations = Vec::new();
    let fetched = Fetched::new(context, fleet::repositories(context), args.fetch);
    for (place, repo) in &fetched.found {
        repo.iter().flat_map(|repo| fetched.errors(repo)).for_each(|error| failed.tell(&error));
        let told = repo.clone().and_then(|repo| one(&repo, fetched.has(&repo)));
        operations.extend(failed.pass(place, told)?.into_iter().flatten());
    }
    if context.options.format() == Format::Json {
        let document = Document { schema: "git-shadow.expire.v1", operations };
        context.ui.answer(written(&document));
        return Ok(failed.exit());
    }
    let line = |told: &Told| match &told.detail {
        Some(why) => format!("{} {}: {why}\n", told.state, told.operation),
        None => format!("{} {}\n", told.state, told.operation),
    };
    context.ui.answer(operations.iter().map(line).collect::<String>());
    Ok(failed.exit())
}

fn one(repo: &Repository, fetched: bool) -> Result<Vec<Told>> {
    let policy = policy::load(repo)?;
    let _lock = sweep::lock(repo)?;
    let journal = Journal::of(repo);
    recover(repo, &journal)?;
    let expiry = Expiry { keep: *policy.keep, now: clock::now(), fetched };
    let told = |(operation, ended)| {
        let (state, detail) = match ended {
            Expired::Dropped => ("dropped", None),
            Expired::Kept(why) => ("kept", Some(why)),
        };
        Told { operation, repository: repo.path().display().to_string(), state, detail }
    };
    Ok(expire(repo, &policy, &journal, &expiry, None)?.into_iter().map(told).collect())
}

/// Drop every operation that is past its time (with `turns`: those whose turn it is), where nothing needs it. The
/// repository's lock must be held.
///
/// # Errors
/// The first failure; the others are tried all the same.
pub fn expire(
    repo: &Repository,
    policy: &Policy,
    journal: &Journal,
    expiry: &Expiry,
    turns: Option<&mut Turns>,
) -> Result<Vec<(String, Expired)>> {
    let mut ended = Vec::new();
    let mut failed = None;
    let past: Vec<Operation> = journal.load()?.into_iter().filter(|one| expiry.of(one) <= expiry.now).collect();
    if past.is_empty() {
        return Ok(ended);
    }
    let bases = bases::resolve(repo, policy);
    let mut shown = Shown { repo, bases: bases.known().cloned().unwrap_or_default(), fetched: expiry.fetched };
    let mut look = |id: &str| {
        for operation in past.iter().filter(|one| one.header.operation == id) {
            match expire_one(repo, operation, &mut shown) {
                Ok(how) => ended.push((id.to_owned(), how)),
                Err(error) => failed = failed.take().or(Some(error)),
            }
        }
    };
    let ids: Vec<String> = past.iter().map(|operation| operation.header.operation.clone()).collect();
    match turns {
        Some(turns) => turns.each("operations", ids, look)?,
        None => ids.iter().for_each(|id| look(id)),
    }
    failed.map_or(Ok(ended), Err::<_, Error>)
}

/// Proof by refs of this repository, and by its bases.
struct Shown<'a> {
    repo: &'a Repository,
    bases: Vec<Base>,
    fetched: bool,
}

impl Proof for Shown<'_> {
    fn landed(&mut self, commits: &[ObjectId]) -> Result<Vec<bool>> {
        let gix = self.repo.local();
        let is_commit = |id: &ObjectId| gix.find_header(*id).is_ok_and(|h| h.kind() == gix::objs::Kind::Commit);
        let bases: Vec<Base> = self.bases.iter().filter(|base| self.keeps(&base.name)).cloned().collect();
        let asked: Vec<ObjectId> = commits.iter().copied().filter(is_commit).collect();
        let mut told = landing::prove(&self.repo.local(), &bases, &asked, &Range::default()).into_iter();
        let landed = |fact| matches!(fact, Some(Fact::Known(Landing::Landed(_))));
        Ok(commits.iter().map(|id| is_commit(id) && landed(told.next())).collect())
    }

    /// What only a remote-tracking ref says may not be true any more, unless it was fetched just now.
    fn keeps(&self, name: &[u8]) -> bool {
        let fresh = || self.fetched && self.bases.iter().any(|base| base.name == name);
        !name.starts_with(b"refs/remotes/") || fresh()
    }
}
