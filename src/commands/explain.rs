//! `git shadow explain`: the evidence behind a verdict.

use std::ffi::OsString;

use super::{Context, fleet, select};
use crate::discover::discover;
use crate::error::{Error, Exit, Result};
use crate::git::Repository;
use crate::inspect::{Depth, Host};
use crate::policy::{self, Policy};
use crate::report::{Format, Report, RepositoryReport, View, explain};
use crate::sys::clock;

/// Show every fact, rule and proof behind a verdict
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Branch, short session id, registration id or path; without it the current worktree
    #[arg(value_name = "SHADOW")]
    pub shadow: Option<OsString>,
}

/// Run it. Of several repositories, the one that knows the name counts.
///
/// # Errors
/// When the name means no shadow, or several.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let now = clock::now();
    let host = fleet::host(context, now);
    let mut found: Vec<(RepositoryReport, Policy)> = Vec::new();
    let mut missed = None;
    let mut failed = fleet::Failed::of(context);
    for (place, repo) in fleet::repositories(context) {
        match repo.and_then(|repo| one(args, context, &repo, &host)) {
            Ok(report) => found.push(report),
            Err(error) if error.code == "no-such-shadow" => missed = missed.or(Some(error)),
            Err(error) if error.code == "ambiguous" => return Err(error),
            // Another repository may know it.
            Err(error) => drop(failed.pass(&place, Err::<(), _>(error))?),
        }
    }
    let Some((repository, policy)) = found.pop() else {
        return Err(missed.unwrap_or_else(|| Error::fatal("no-such-shadow", "no repository was found")));
    };
    if let Some((other, _)) = found.pop() {
        let (one, two) = (other.path.display(), repository.path.display());
        return Err(Error::fatal("ambiguous", format!("both '{one}' and '{two}' have a shadow of that name"))
            .hint("name one of them with --repo"));
    }
    let report = Report {
        command: context.command,
        dry_run: true,
        generated_at: now,
        repositories: vec![repository],
        session_roots: Vec::new(),
        operation: None,
    };
    let view = View { all: true, ..View::default() };
    if context.options.format() != Format::Human {
        return Ok(context.tell(&report, &view).max(failed.exit()));
    }
    for repository in &report.repositories {
        for shadow in &repository.shadows {
            let page = explain::render(&report, repository, shadow, &policy, &context.ui.canvas(&context.dir));
            context.show(&page);
        }
    }
    Ok(report.exit().max(failed.exit()))
}

fn one(args: &Args, context: &Context<'_>, repo: &Repository, host: &Host) -> Result<(RepositoryReport, Policy)> {
    let policy = policy::load(repo)?;
    let discovery = discover(repo, &repo.local(), &policy, &host.leases)?;
    let shadows = &discovery.shadows;
    let shadow = match &args.shadow {
        Some(word) => select::select(word, shadows, &discovery.leases, &context.dir)?,
        None => select::current(shadows, &context.dir).ok_or_else(|| {
            let here = context.dir.display();
            Error::fatal("no-such-shadow", format!("'{here}' is in no linked worktree"))
                .hint("name a shadow; 'git shadow list' shows them")
        })?,
    };
    let report = fleet::judged(repo, &policy, host, Some(shadow), Depth::Everything)?;
    Ok((report, policy))
}
