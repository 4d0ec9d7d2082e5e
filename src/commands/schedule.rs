//! `git shadow schedule`: a timer of the system that sweeps by itself.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::Context;
use crate::error::{Error, Exit, Result};
use crate::hooks;
use crate::model::Change;
use crate::report::Format;
use crate::report::schedule::{Timer, human, json, porcelain};
use crate::schedule::{By, EVERY, Every, Found, Job};
use crate::ui::{safe_lossy, safe_path};

/// Have the system sweep all repositories below a directory, every day
///
/// It runs 'git shadow prune-sessions --under DIR --fetch --yes -q': what landed on a server, where no hook of this machine
/// sees it, goes with it. systemd, launchd or cron keeps the timer, whichever is there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[arg(value_enum)]
    action: Action,
    /// How often
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = every())]
    every: Every,
    /// What keeps the timer [default: the first that is there]
    #[arg(long, value_enum, value_name = "SYSTEM")]
    via: Option<By>,
    /// Change nothing, tell what would be done
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn every() -> impl clap::builder::TypedValueParser<Value = Every> {
    let known = PossibleValuesParser::new(EVERY.iter().map(|every| every.name));
    known.try_map(|name| EVERY.iter().copied().find(|every| every.name == name).ok_or("no such time"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Action {
    /// Put the timer there, or change what it runs
    Install,
    /// Take it out
    Remove,
    /// Tell whether it is there, what it runs and when
    Status,
}

fn timer(by: By, found: Option<&Found>, change: Option<Change>) -> Timer {
    Timer {
        by: by.as_str(),
        state: match found {
            None => "absent",
            Some(found) if !found.intact => "edited",
            Some(found) if found.idle.is_some() => "idle",
            Some(_) => "installed",
        },
        change,
        place: found.map(|found| found.place.clone()),
        next: found.and_then(|found| found.next.clone()),
        message: found.and_then(|found| found.idle.clone()),
    }
}

/// Run it.
///
/// # Errors
/// When no directory is named, nothing keeps timers here, or what does fails.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let timers = match args.action {
        Action::Install => install(args, context)?,
        Action::Remove => remove(args)?,
        Action::Status => status()?,
    };
    match context.options.format() {
        Format::Json => context.ui.answer(json(&timers, context.command, args.dry_run)),
        Format::Porcelain { nul } => context.ui.answer(porcelain(&timers, nul)),
        Format::Human => context.ui.answer(human(&timers, args.dry_run)),
    }
    let wrong = timers.iter().filter(|timer| args.action != Action::Status && timer.state == "edited");
    let mut exit = Exit::Done;
    for timer in wrong {
        let place = timer.place.as_deref().unwrap_or_default();
        context.ui.error(&Error::no("edited", format!("somebody has changed the timer: '{}'", safe_lossy(place))));
        exit = Exit::No;
    }
    let absent = timers.iter().all(|timer| timer.state == "absent");
    if args.action == Action::Status && absent {
        context.ui.hint("'git shadow schedule install --under DIR' has all repositories below DIR swept every day");
    }
    if timers.iter().any(|timer| timer.by == "systemd" && timer.change == Some(Change::Installed)) {
        context.ui.hint("it runs while you are logged in; 'loginctl enable-linger' has it run without you");
    }
    Ok(exit)
}

fn install(args: &Args, context: &Context<'_>) -> Result<Vec<Timer>> {
    let named = context.options.under.iter().chain(&context.options.repo);
    let directories = named.map(|given| {
        let path = context.path(given);
        let found = fs_err::canonicalize(&path).ok().filter(|found| found.is_dir());
        found.ok_or_else(|| Error::fatal("no-directory", format!("'{}' is not a directory", safe_path(&path))))
    });
    let directories = directories.collect::<Result<Vec<_>>>()?;
    if directories.is_empty() {
        return Err(Error::usage("name the directory below which to sweep with '--under'"));
    }
    let job = Job::new(&hooks::program()?, &directories, args.every)?;
    let by = match args.via {
        Some(by) => by,
        None => By::ALL.into_iter().find(|by| by.is_there()).ok_or_else(|| {
            Error::fatal("no-timer", "neither systemd, launchd nor cron keeps timers for this user")
                .hint("have whatever starts things here run 'git shadow prune-sessions --under DIR --fetch --yes -q'")
        })?,
    };
    let found = by.look(Some(&job))?;
    let change = match &found {
        None => Some(Change::Installed),
        Some(found) if !found.intact || found.current => None,
        Some(_) => Some(Change::Updated),
    };
    if change.is_none() {
        return Ok(vec![timer(by, found.as_ref(), change)]);
    }
    if args.dry_run {
        return Ok(vec![Timer { place: Some(job.command()), ..timer(by, found.as_ref(), change) }]);
    }
    by.put(&job)?;
    let mut timers = vec![timer(by, by.look(Some(&job))?.as_ref(), change)];
    // It is to run once, whatever keeps it.
    timers.extend(take(By::ALL.into_iter().filter(|other| *other != by), false)?);
    Ok(timers)
}

fn remove(args: &Args) -> Result<Vec<Timer>> {
    let timers = take(By::ALL.into_iter(), args.dry_run)?;
    Ok(if timers.is_empty() { vec![timer(first(), None, None)] } else { timers })
}

/// Take ours out of these; those of them that there were.
fn take(all: impl Iterator<Item = By>, dry_run: bool) -> Result<Vec<Timer>> {
    let mut timers = Vec::new();
    for (by, found) in found(all)? {
        if !found.intact || dry_run {
            timers.push(timer(by, Some(&found), found.intact.then_some(Change::Removed)));
            continue;
        }
        by.take()?;
        timers.push(Timer { place: Some(found.place), ..timer(by, None, Some(Change::Removed)) });
    }
    Ok(timers)
}

fn status() -> Result<Vec<Timer>> {
    let timers: Vec<Timer> =
        found(By::ALL.into_iter())?.iter().map(|(by, found)| timer(*by, Some(found), None)).collect();
    Ok(if timers.is_empty() { vec![timer(first(), None, None)] } else { timers })
}

/// What is there of ours. A cron that is not there keeps nothing; files of the others may be left without them.
fn found(all: impl Iterator<Item = By>) -> Result<Vec<(By, Found)>> {
    let mut timers = Vec::new();
    for by in all.filter(|by| *by != By::Cron || by.is_there()) {
        timers.extend(by.look(None)?.map(|found| (by, found)));
    }
    Ok(timers)
}

/// What would keep it.
fn first() -> By {
    By::ALL.into_iter().find(|by| by.is_there()).unwrap_or(By::Cron)
}
