//! `git shadow list`: every shadow with its verdict and the first reason.

use super::{Context, disk, fleet, sessions, survey, sweep};
use crate::error::{Error, Exit, Result};
use crate::git::Repository;
use crate::inspect::Depth;
use crate::lease::Leases;
use crate::model::Timestamp;
use crate::policy;
use crate::report::fields;
use crate::report::template::{Template, Writing};
use crate::report::{Census, Format, Report, RepositoryReport, Summary, View};
use crate::sys::sandbox::REGISTRATIONS;
use crate::sys::{self, clock};
use crate::ui::safe_path;

/// List every shadow: its verdict, and why
#[derive(Debug, clap::Args)]
#[command(after_long_help = fields::help())]
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
    /// Only the census: how many there are, what can go, what each code holds back, and where most of it lies
    #[arg(long)]
    pub summary: bool,
    /// Measure what each worktree takes on the disk
    #[arg(long, conflicts_with = "format")]
    pub disk: bool,
    /// A line a shadow made from TEMPLATE, in which '%(name)', '%(verdict)' and the like are filled in
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "summary")]
    pub format: Option<String>,
    /// Exit with 1 when something could be released
    #[arg(long)]
    pub exit_code: bool,
}

/// Run it.
///
/// # Errors
/// When the only repository cannot be read, or a template cannot be understood.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let view =
        View { all: args.all, held: args.held, releasable: args.releasable, summary: args.summary, ..View::default() };
    let (report, exit) = match &args.format {
        Some(format) => formatted(format, args, &view, context)?,
        None => {
            let mut report = judged(context, true)?;
            let disks = args.disk.then(|| disk::measure(context, &mut report.repositories));
            let census = (args.summary || args.disk).then(|| Census::of(&report, disks.as_ref()));
            let exit = context.tell(&report, &View { census, ..view });
            if context.options.format() == Format::Human {
                crowded(&report, context);
            }
            (report, exit)
        }
    };
    let counts = Summary::of(&report);
    let goes = counts.release + counts.partial > 0;
    Ok(if exit == Exit::Done && args.exit_code && goes { Exit::No } else { exit })
}

/// Too many registrations harm the agents themselves, whatever becomes of each.
fn crowded(report: &Report, context: &Context<'_>) {
    for repository in &report.repositories {
        let number = repository.shadows.iter().filter(|one| one.judgement.evidence.shadow.worktree.is_some()).count();
        if number >= REGISTRATIONS {
            let (place, limit) = (safe_path(&repository.path), REGISTRATIONS);
            context.ui.hint(&format!(
                "{number} worktrees of '{place}' are registered; sandboxes of agents fail from about {limit} on, \
                 and 'git shadow prune-sessions' releases what may go"
            ));
        }
    }
}

fn formatted(format: &str, args: &Args, view: &View, context: &Context<'_>) -> Result<(Report, Exit)> {
    if context.options.json || context.options.porcelain {
        return Err(Error::usage("option '--format' cannot be used together with '--json' or '--porcelain'"));
    }
    let template = Template::parse(format)?;
    let asks_verdict = args.held || args.releasable || args.exit_code;
    let report = if template.is_cheap() && !asks_verdict { named(context)? } else { judged(context, false)? };
    let writing = Writing { nul: context.options.nul, watched: context.ui.watched() };
    context.ui.answer(template.render(&report, view, writing));
    let exit = context.end(&report);
    Ok((report, exit))
}

/// Every shadow with its verdict.
fn judged(context: &Context<'_>, with_roots: bool) -> Result<Report> {
    let now = clock::now();
    let host = fleet::host(context, now);
    let one = |repo: &Repository| fleet::judged(repo, &policy::load(repo)?, &host, None, Depth::Thrifty);
    let mut report = report(context, now, fleet::run(context, sys::threads::available(), one)?);
    if with_roots {
        report.session_roots = sessions::plan(&host, &policy::load_user()?, &report.repositories);
    }
    Ok(report)
}

/// Every shadow by name; nobody looks into worktrees or history, so that a prompt or a completion need not wait.
fn named(context: &Context<'_>) -> Result<Report> {
    let (now, leases) = (clock::now(), Leases::read());
    let one = |repo: &Repository| {
        Ok(sweep::report(repo, survey::named(repo, &policy::load(repo)?, &leases, now)?, Default::default()))
    };
    Ok(report(context, now, fleet::run(context, sys::threads::available(), one)?))
}

fn report(context: &Context<'_>, now: Timestamp, repositories: Vec<RepositoryReport>) -> Report {
    Report {
        command: context.command,
        dry_run: true,
        generated_at: now,
        repositories,
        session_roots: Vec::new(),
        operation: None,
    }
}
