//! `git shadow prune-sessions`: release all that may go.

use std::path::PathBuf;
use std::sync::Mutex;

use super::sweep::{self, Order, Swept};
use super::{Context, fleet, sessions};
use crate::error::{Exit, Result};
use crate::inspect::Host;
use crate::journal::new_id;
use crate::judge::Terms;
use crate::model::{Shadow, Verdict};
use crate::policy;
use crate::report::{Format, Report, RepositoryReport, SessionRoot, Summary, View};
use crate::sys::clock;
use crate::sys::threads::{available, locked};

/// Release every shadow whose work is provably safe
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Release without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Only say what would be done
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Fetch the bases first
    #[arg(long)]
    pub fetch: bool,
}

/// What was shown in each repository, by its common directory.
type Shown = Vec<(PathBuf, Vec<Shadow>)>;

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let host = fleet::host(context, clock::now());
    if args.yes {
        return carry_out(context, &host, None, args.fetch);
    }
    let repositories = fleet::run(context, available(), |repo| {
        let policy = policy::load(repo)?;
        if args.fetch {
            sweep::fetch(repo, &policy, context);
        }
        Ok(sweep::plan(repo, order(context, &policy, &host, ""), None)?.0)
    })?;
    let session_roots = sessions::plan(&host, &policy::load_user()?, &repositories);
    let report = told(context, &host, true, repositories, session_roots, None);
    let counts = Summary::of(&report);
    let goes = counts.release + counts.partial + report.folders() > 0;
    let open = !args.dry_run && goes;
    let asks = open && context.options.format() == Format::Human && context.ui.can_ask();
    let exit = context.tell(&report, &View { asks, ..View::default() });
    if !asks {
        if open {
            context.ui.note("nobody can be asked: this was a dry run, and nothing was changed");
        }
        return Ok(exit);
    }
    let question = match report.folders() {
        0 => format!("release {}?", counts.share()),
        number => format!("release {}, and delete session folders ({number})?", counts.share()),
    };
    if !context.ui.ask(&question) {
        context.ui.note("nothing was changed");
        return Ok(exit);
    }
    let shown = report.repositories.iter().map(|r| (r.common_dir.clone(), shadows(r))).collect();
    carry_out(context, &host, Some(&shown), false)
}

/// Release all that may go; of what was shown, only that.
fn carry_out(context: &Context<'_>, host: &Host, shown: Option<&Shown>, fetch: bool) -> Result<Exit> {
    let id = new_id(host.now);
    let until = Mutex::new(None);
    let repositories = fleet::run(context, fleet::ONE_BY_ONE, |repo| {
        let policy = policy::load(repo)?;
        let agreed = shown.map(|shown| {
            let of = shown.iter().find(|(common_dir, _)| common_dir == repo.common_dir());
            of.map(|(_, shadows)| shadows.as_slice()).unwrap_or_default()
        });
        let fetched = fetch && sweep::fetch(repo, &policy, context);
        let order = Order { fetched, ..order(context, &policy, host, &id) };
        let Swept { report, undo_until } = sweep::carry_out(repo, &sweep::lock(repo)?, order, agreed, |_| Ok(None))?;
        let mut until = locked(&until);
        *until = sweep::earlier(*until, undo_until);
        Ok(report)
    })?;
    let policy = policy::load_user()?;
    let swept = sessions::carry_out(context, &policy, &id).unwrap_or_else(|error| {
        context.ui.error(&error);
        sessions::Swept { failed: true, ..sessions::Swept::default() }
    });
    let mut undo_until = *locked(&until);
    if swept.deleted {
        undo_until = sweep::earlier(undo_until, host.now.checked_add(*policy.keep).ok());
    }
    let failed = swept.failed;
    let report = told(context, host, false, repositories, swept.roots, undo_until.map(|_| id));
    let exit = context.tell(&report, &View { undo_until, ..View::default() });
    Ok(if failed && exit == Exit::Done { Exit::Failed } else { exit })
}

fn order<'a>(context: &'a Context<'a>, policy: &'a policy::Policy, host: &'a Host, operation: &'a str) -> Order<'a> {
    Order { context, policy, host, terms: Terms::default(), operation, fetched: false }
}

fn shadows(repository: &RepositoryReport) -> Vec<Shadow> {
    let going = repository.shadows.iter().map(|shadow| &shadow.judgement);
    let going = going.filter(|judgement| matches!(judgement.verdict, Verdict::Release | Verdict::Partial));
    going.map(|judgement| judgement.evidence.shadow.clone()).collect()
}

fn told(
    context: &Context<'_>,
    host: &Host,
    dry_run: bool,
    repositories: Vec<RepositoryReport>,
    session_roots: Vec<SessionRoot>,
    operation: Option<String>,
) -> Report {
    Report { command: context.command, dry_run, generated_at: host.now, repositories, session_roots, operation }
}
