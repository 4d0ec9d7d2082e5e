//! `git shadow list`: every shadow with its verdict and the first reason.

use super::{Context, fleet, sessions};
use crate::error::{Exit, Result};
use crate::git::Repository;
use crate::inspect::{Depth, Host};
use crate::policy;
use crate::report::{Report, RepositoryReport, Summary, View};
use crate::sys::{self, clock};

/// List every shadow: its verdict, and why
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Foreign worktrees and branches too
    #[arg(short, long)]
    pub all: bool,
    /// Only those of which something stays
    #[arg(long)]
    pub held: bool,
    /// Only those of which something goes
    #[arg(long)]
    pub releasable: bool,
    /// Only the census: what can go, and what each code holds back
    #[arg(long)]
    pub summary: bool,
    /// Exit with 1 when something could be released
    #[arg(long)]
    pub exit_code: bool,
}

/// Run it.
///
/// # Errors
/// When the only repository cannot be read.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let now = clock::now();
    let host = fleet::host(context, now);
    let repositories = fleet::run(context, sys::threads::available(), |repo| judged(repo, &host))?;
    let report = Report {
        command: context.command,
        dry_run: true,
        generated_at: now,
        session_roots: sessions::plan(&host, &policy::load_user()?, &repositories),
        repositories,
        operation: None,
    };
    let view =
        View { all: args.all, held: args.held, releasable: args.releasable, summary: args.summary, ..View::default() };
    let exit = context.tell(&report, &view);
    let counts = Summary::of(&report);
    let goes = counts.release + counts.partial > 0;
    Ok(if exit == Exit::Done && args.exit_code && goes { Exit::No } else { exit })
}

fn judged(repo: &Repository, host: &Host) -> Result<RepositoryReport> {
    fleet::judged(repo, &policy::load(repo)?, host, None, Depth::Thrifty)
}
