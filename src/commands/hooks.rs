//! `git shadow hooks`: put the hooks beside what is there, take them out, tell how they stand.

use std::collections::HashSet;
use std::path::Path;

use super::{Context, fleet, sweep};
use crate::error::{Error, Exit, Result};
use crate::git::{Repository, bases};
use crate::hooks::failure::Failure;
use crate::hooks::install::Site;
use crate::hooks::{self, off};
use crate::model::{Event, Fact, Hook, HookState, Way};
use crate::policy;
use crate::report::Format;
use crate::report::hooks::{HooksReport, human, json, porcelain};
use crate::sys::clock;
use crate::ui::safe_path;

/// Have git look for what has landed after a merge, a pull or a push
///
/// The hooks release what has just landed, quietly. They never change what becomes of the merge or the push, and hold it
/// up for a second at most: one line tells what went; what takes longer goes on behind git, and 'git shadow log' shows it.
/// What landed before, what is unused, and what no hook sees (a merge on the server) goes with 'git shadow prune-sessions'
/// or 'git shadow schedule'.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[arg(value_enum)]
    action: Action,
    /// Change nothing, tell what would be done
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// How git is made to call them [default: config where git can do that, for files would have to be moved aside]
    #[arg(long, value_enum)]
    via: Option<Way>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Action {
    /// Put the hooks where git looks; a hook that is there is kept and called
    Install,
    /// Take the hooks out and put back what was there before
    Remove,
    /// Tell how the hooks stand, and what switches them off
    Status,
}

/// Run it.
///
/// # Errors
/// When the only repository cannot be read or written.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let each = |repo: &Repository| {
        let hooks = one(args, context, repo)?;
        Ok(HooksReport { repository: repo.path().to_owned(), hooks, errors: Vec::new() })
    };
    let failed =
        |place: &Path, error| HooksReport { repository: place.to_owned(), hooks: Vec::new(), errors: vec![error] };
    let reports = fleet::each(context, &fleet::repositories(context), fleet::ONE_BY_ONE, each, failed)?;
    match context.options.format() {
        Format::Json => context.ui.answer(json(&reports, context.command, args.dry_run)),
        Format::Porcelain { nul } => context.ui.answer(porcelain(&reports, nul)),
        Format::Human => {
            context.ui.answer(human(&reports, args.dry_run, clock::now(), &context.ui.canvas(&context.dir)))
        }
    }
    let mut exit = Exit::Done;
    let mut hints: Vec<String> = Vec::new();
    for report in &reports {
        exit = exit.max(if report.errors.is_empty() { answer(args.action, &report.hooks) } else { Exit::Failed });
        report.errors.iter().for_each(|error| context.ui.error(error));
        let wrong = report.hooks.iter().filter(|hook| answer(args.action, std::slice::from_ref(hook)) == Exit::No);
        wrong.for_each(|hook| context.ui.error(&refusal(args.action, context, report, hook)));
        hints.extend(report.hooks.iter().filter_map(|hook| hint(args.action, hook)));
    }
    // Those of many repositories are often the same.
    let mut said = HashSet::new();
    hints.iter().filter(|hint| said.insert(*hint)).for_each(|hint| context.ui.hint(hint));
    Ok(exit)
}

fn one(args: &Args, context: &Context<'_>, repo: &Repository) -> Result<Vec<Hook>> {
    // From a linked worktree git may look elsewhere than from the main one.
    let here = context.options.repo.is_empty() && context.options.under.is_empty();
    let start = if here { context.dir.as_path() } else { repo.path() };
    let policy = policy::load(repo)?;
    let really = args.action != Action::Status && !args.dry_run;
    let _lock = if really { Some(sweep::lock(repo)?) } else { None };
    let site = Site::of(repo, start, args.via)?;
    let failure = Failure::read(repo)?;
    let each = |event: Event| {
        let hook = match args.action {
            Action::Install => site.install(event, really)?,
            Action::Remove => site.remove(event, really)?,
            Action::Status => site.look(event)?,
        };
        let off = match hook.off {
            Some(why) => Some(why),
            None => off::off(&policy, start, event)?,
        };
        let failed = failure.clone().filter(|failure| failure.hook == event.as_str());
        Ok(Hook { off, failed: failed.map(|failure| (failure.time, failure.message)), ..hook })
    };
    let hooks = Event::ALL.into_iter().map(each).collect::<Result<Vec<Hook>>>()?;
    if really && hooks.iter().any(|hook| hook.state == HookState::Installed) {
        let bases = bases::resolve(repo, &policy);
        if let Fact::Unknown(why) = &bases {
            let place = safe_path(repo.path());
            context.ui.warning(&format!("'{place}': {why}; until then the hooks have nothing to look at"));
        }
        hooks::begin(repo, bases.known().map(Vec::as_slice).unwrap_or_default())?;
    }
    Ok(hooks)
}

/// Whether what was asked for is so now.
fn answer(action: Action, hooks: &[Hook]) -> Exit {
    let wrong = |hook: &Hook| match (action, hook.state) {
        (Action::Install, HookState::Edited | HookState::Replaced | HookState::Managed) => true,
        (Action::Remove, HookState::Edited | HookState::Replaced) => true,
        // Something that is not ours to change calls it.
        (Action::Remove, HookState::Installed) => hook.change.is_none(),
        (Action::Install | Action::Remove | Action::Status, _) => false,
    };
    if hooks.iter().any(wrong) { Exit::No } else { Exit::Done }
}

/// Why what was asked for is not so.
fn refusal(action: Action, context: &Context<'_>, report: &HooksReport, hook: &Hook) -> Error {
    let event = hook.event.as_str();
    let why = hook.why.as_deref().unwrap_or("somebody has changed it");
    let error = match action {
        Action::Install => Error::no("hooks", format!("cannot install '{event}': {why}")),
        Action::Remove | Action::Status => {
            let place = hook.path.as_deref().map(|path| format!(" in '{}'", safe_path(path))).unwrap_or_default();
            Error::no("hooks", format!("'{event}' stays{place}: {why}"))
        }
    };
    if context.options.many() { fleet::of_several(&report.repository, error) } else { error }
}

/// What would help, beside the answer.
fn hint(action: Action, hook: &Hook) -> Option<String> {
    let wrong = answer(action, std::slice::from_ref(hook)) == Exit::No;
    hook.remedy.clone().filter(|_| wrong || action == Action::Status)
}
