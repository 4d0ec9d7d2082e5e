//! `git shadow prune-sessions`: release all that may go.

use std::path::PathBuf;
use std::sync::Mutex;

use super::fetch::Fetched;
use super::sweep::{self, Order, Shown, Swept};
use super::{Context, fleet, sessions};
use crate::error::{Error, Exit, Result};
use crate::git::Repository;
use crate::inspect::Host;
use crate::journal::new_id;
use crate::judge::Terms;
use crate::model::Shadow;
use crate::policy;
use crate::report::choice::{self, Choice};
use crate::report::{Format, Report, RepositoryReport, SessionRoot, ShadowReport, Summary, View};
use crate::sys::clock;
use crate::sys::threads::{available, locked};
use crate::ui::safe;

/// Release every shadow whose work is provably safe
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Release without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Only say what would be done
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Choose with the keyboard which of them go
    #[arg(long, conflicts_with_all = ["yes", "dry_run"])]
    pub select: bool,
    /// Fetch the bases first
    #[arg(long)]
    pub fetch: bool,
}

/// What the user agreed to.
#[derive(Debug)]
struct Agreed {
    /// In each repository, by its common directory.
    shadows: Vec<(PathBuf, Vec<Shown>)>,
    /// They were picked one by one: nothing beside them is touched.
    picked: bool,
}

impl Agreed {
    fn of(&self, repo: &Repository) -> &[Shown] {
        let of = self.shadows.iter().find(|(common_dir, _)| common_dir == repo.common_dir());
        of.map(|(_, shadows)| shadows.as_slice()).unwrap_or_default()
    }

    /// What was not found as it was shown.
    fn missed(&self, report: &Report) -> Vec<&Shadow> {
        let told = |repository: &RepositoryReport, shadow: &Shadow| {
            let is_it = |one: &ShadowReport| one.judgement.evidence.shadow == *shadow;
            !repository.errors.is_empty() || repository.shadows.iter().any(is_it)
        };
        let agreed =
            self.shadows.iter().flat_map(|(place, shadows)| shadows.iter().map(move |shown| (place, &shown.shadow)));
        let missed = agreed.filter(|(place, shadow)| {
            let mut there = report.repositories.iter().filter(|repository| repository.common_dir == **place);
            there.any(|repository| !told(repository, shadow))
        });
        missed.map(|(_, shadow)| shadow).collect()
    }
}

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    if args.select && !context.ui.can_choose() {
        return Err(Error::usage("option '--select' needs a terminal to choose on")
            .hint("'git shadow release <shadow>...' releases those that are named"));
    }
    let bases = Fetched::new(context, fleet::repositories(context), args.fetch);
    // After the fetches, which may take their time.
    let host = fleet::host(context, clock::now());
    if args.yes {
        return carry_out(context, &host, &bases, None);
    }
    let repositories = fleet::over(context, &bases.found, available(), |repo| {
        let policy = policy::load(repo)?;
        let mut report = sweep::plan(repo, order(context, &policy, &host, ""), None)?;
        report.errors.extend(bases.errors(repo));
        Ok(report)
    })?;
    let session_roots = sessions::plan(&host, &policy::load_user()?, &repositories);
    let report = told(context, &host, true, repositories, session_roots, None);
    if args.select {
        return select(context, &host, &bases, &report);
    }
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
    let shadows = report.repositories.iter().map(|r| (r.common_dir.clone(), shown(r))).collect();
    carry_out(context, &host, &bases, Some(&Agreed { shadows, picked: false }))
}

/// Ask which of them go, and release those.
fn select(context: &Context<'_>, host: &Host, bases: &Fetched, report: &Report) -> Result<Exit> {
    let choices = choice::choices(report, &context.ui.canvas(&context.dir));
    if choices.is_empty() {
        return Ok(context.tell(report, &View::default()));
    }
    let labels: Vec<String> = choices.iter().map(|choice| choice.label.clone()).collect();
    let picked = context.ui.choose("release which?", &labels)?;
    if picked.is_empty() {
        context.ui.note("nothing was changed");
        let for_people = context.options.format() == Format::Human;
        return Ok(if for_people { context.end(report) } else { context.tell(report, &View::default()) });
    }
    let picked: Vec<_> = picked.into_iter().filter_map(|n| choices.get(n)).collect();
    let of = |n: usize| picked.iter().filter(move |choice| choice.repository == n);
    let shown = |choice: &&Choice<'_>| Shown::of(&choice.shadow.judgement);
    let repositories = report.repositories.iter().enumerate();
    let shadows = repositories.map(|(n, one)| (one.common_dir.clone(), of(n).filter_map(shown).collect())).collect();
    carry_out(context, host, bases, Some(&Agreed { shadows, picked: true }))
}

/// Release all that may go; of what was agreed to, only that.
fn carry_out(context: &Context<'_>, host: &Host, bases: &Fetched, agreed: Option<&Agreed>) -> Result<Exit> {
    let picked = agreed.is_some_and(|agreed| agreed.picked);
    let id = new_id(host.now);
    let until = Mutex::new(None);
    let repositories = fleet::over(context, &bases.found, fleet::ONE_BY_ONE, |repo| {
        // Somebody may have thought about the answer for long.
        let repo = &repo.again()?;
        let policy = policy::load(repo)?;
        let shown = agreed.map(|agreed| agreed.of(repo));
        let order = Order { fetched: bases.has(repo), ..order(context, &policy, host, &id) };
        if picked && shown.is_some_and(<[Shown]>::is_empty) {
            return sweep::plan(repo, order, Some(&[]));
        }
        let lock = sweep::lock(repo)?;
        let Swept { mut report, undo_until } = sweep::carry_out(repo, &lock, order, shown, |_| Ok(None))?;
        let mut until = locked(&until);
        *until = sweep::earlier(*until, undo_until);
        // They were told when it was asked.
        report.errors.extend(shown.is_none().then(|| bases.errors(repo)).into_iter().flatten());
        Ok(report)
    })?;
    let policy = policy::load_user()?;
    let swept =
        if picked { Ok(sessions::Swept::default()) } else { sessions::carry_out(context, &policy, &id, &repositories) };
    let swept = swept.unwrap_or_else(|error| {
        context.ui.error(&error);
        sessions::Swept { failed: true, ..sessions::Swept::default() }
    });
    let mut undo_until = *locked(&until);
    if swept.deleted {
        undo_until = sweep::earlier(undo_until, host.now.checked_add(*policy.keep).ok());
    }
    let failed = swept.failed;
    let report = told(context, host, false, repositories, swept.roots, undo_until.map(|_| id));
    let missed = agreed.map(|agreed| agreed.missed(&report)).unwrap_or_default();
    let exit = context.tell(&report, &View { undo_until, ..View::default() });
    for shadow in &missed {
        let name = safe(&shadow.name);
        context.ui.warning(&format!("'{name}' is not as it was shown any more, and is left alone"));
    }
    let failed = failed || !missed.is_empty();
    Ok(if failed && exit == Exit::Done { Exit::Failed } else { exit })
}

fn order<'a>(context: &'a Context<'a>, policy: &'a policy::Policy, host: &'a Host, operation: &'a str) -> Order<'a> {
    Order { context, policy, host, terms: Terms::default(), operation, fetched: false }
}

fn shown(repository: &RepositoryReport) -> Vec<Shown> {
    repository.shadows.iter().filter_map(|shadow| Shown::of(&shadow.judgement)).collect()
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
