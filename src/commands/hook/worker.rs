//! The work of a hook, done when nobody waits for it.

use std::time::Duration;

use gix::bstr::BString;

use super::super::sweep::{self, Order};
use super::super::{Context, fleet};
use super::{Args, command};
use crate::discover::discover;
use crate::error::Result;
use crate::execute;
use crate::git::Repository;
use crate::hooks::failure::Failure;
use crate::hooks::news::{News, Start};
use crate::hooks::off;
use crate::journal::{Cursor, Journal, new_id};
use crate::judge::Terms;
use crate::lease::Leases;
use crate::model::{Event, Outcome, Shadow};
use crate::policy;
use crate::report::ShadowReport;
use crate::sys::process::wait_for_end;
use crate::sys::{clock, detach, lock};
use crate::ui::safe;

/// How long a push may take.
const PUSHING: Duration = Duration::from_secs(24 * 3600);

/// How long other runs may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(event: Event, args: &Args, context: &Context<'_>) {
    detach::detach();
    if args.git.is_some_and(|(pid, ticks)| !wait_for_end(pid, ticks, PUSHING)) {
        return;
    }
    let checkout = args.checkout.as_deref().unwrap_or(&context.dir);
    let Ok(repo) = Repository::at(checkout, &context.dir) else { return };
    let start = match event {
        Event::PostMerge => Start::BeforeItsLastMove,
        Event::PrePush => Start::Given(args.since.iter().cloned().collect()),
    };
    let done = sweep(event, &repo, &start, context);
    Failure::note(&repo, event.as_str(), clock::now(), done.as_ref().err());
    if let Ok(released) = done
        && !released.is_empty()
    {
        context.ui.answer(said(&released));
    }
}

/// Release what landed since the last sweep; the names of what went.
fn sweep(event: Event, repo: &Repository, start: &Start, context: &Context<'_>) -> Result<Vec<BString>> {
    // One that waits for the lock will see what is new by then, for all that come after it.
    let next = match lock::exclusive(&repo.shadow_dir().join("next"), Duration::ZERO) {
        Err(error) if error.code == "lock-busy" => return Ok(Vec::new()),
        next => next?,
    };
    let lock = sweep::lock_within(repo, PATIENCE)?;
    drop(next);
    let policy = policy::load(repo)?;
    let news = News::read(repo, &policy, start)?;
    if news.is_none() || !off::is_on(repo, &policy, event) {
        return Ok(Vec::new());
    }
    // What a killed run left in pieces may have landed, too.
    execute::recover(repo, &Journal::of(repo))?;
    // Reading the machine's leases costs more than all the rest: they are asked only when something has landed that may be
    // a session's.
    let landed = |leases: &Leases, asked: fn(&Shadow) -> bool| -> Result<Vec<Shadow>> {
        let mut shadows = discover(repo, &repo.local(), &policy, leases)?.shadows;
        shadows.retain(asked);
        Ok(news.landed(repo, shadows))
    };
    let mut here = landed(&Leases::default(), |shadow| !shadow.foreign || shadow.worktree.is_some())?;
    if !here.is_empty() {
        here = landed(&Leases::read(), |shadow| !shadow.foreign)?;
    }
    let (mut report, mut errors) = (Vec::new(), Vec::new());
    if !here.is_empty() {
        let context = Context { command: command(event), dir: context.dir.clone(), ..*context };
        let host = fleet::host(&context, clock::now());
        let terms = Terms { hook: true, ..Terms::default() };
        let operation = new_id(host.now);
        let order =
            Order { context: &context, policy: &policy, host: &host, terms, operation: &operation, fetched: false };
        let swept = sweep::carry_out(repo, &lock, order, None, |_| Ok(Some(here)))?;
        (report, errors) = (swept.report.shadows, swept.report.errors);
    }
    Cursor::after(&news.bases, sweep::waiting(&report)).write(repo)?;
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    Ok(report
        .iter()
        .filter(|shadow| went(shadow))
        .map(|shadow| shadow.judgement.evidence.shadow.name.clone())
        .collect())
}

fn went(shadow: &ShadowReport) -> bool {
    shadow.outcome() == Some(Outcome::Done)
}

/// One line, however many there are.
fn said(released: &[BString]) -> String {
    const NAMED: usize = 3;
    let mut names: Vec<String> = released.iter().take(NAMED).map(|name| format!("'{}'", safe(name))).collect();
    if released.len() > NAMED {
        names.push(format!("{} more", released.len() - NAMED));
    }
    format!("git shadow: released {}, 'git shadow undo' takes it back\n", names.join(", "))
}
