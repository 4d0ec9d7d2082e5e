//! `git shadow log`: the operations and what they pin.

use super::expire::until;
use super::{Context, fleet};
use crate::error::{Exit, Result};
use crate::execute::expire::pins_of;
use crate::git::Repository;
use crate::journal::{Item, Journal, Operation};
use crate::policy;
use crate::report::Format;
use crate::report::log::{LogEntry, LogShadow, human, json, porcelain};
use crate::sys::clock;

/// Show the operations and what they pin
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Run it.
///
/// # Errors
/// When the only repository's journal cannot be read.
pub fn run(_args: &Args, context: &Context<'_>) -> Result<Exit> {
    let mut entries = Vec::new();
    let mut failed = fleet::Failed::of(context);
    for (place, repo) in fleet::repositories(context) {
        entries.extend(failed.pass(&place, repo.and_then(|repo| one(&repo)))?.into_iter().flatten());
    }
    entries.sort_by(|a, b| b.started.cmp(&a.started).then_with(|| a.repository.cmp(&b.repository)));
    if entries.is_empty() && !failed.any() {
        context.ui.note("no operations: nothing was released here");
    }
    match context.options.format() {
        Format::Json => context.ui.answer(json(&entries)),
        Format::Porcelain { nul } => context.ui.answer(porcelain(&entries, nul)),
        Format::Human => context.ui.answer(human(&entries, clock::now(), &context.ui.canvas(&context.dir))),
    }
    Ok(failed.exit())
}

fn one(repo: &Repository) -> Result<Vec<LogEntry>> {
    let keep = *policy::load(repo)?.keep;
    let entry = |operation: Operation| {
        Ok(LogEntry {
            repository: repo.path().display().to_string(),
            until: until(&operation, keep),
            pins: pins_of(repo, &operation.header.operation)?.len(),
            operation: operation.header.operation,
            command: operation.header.command,
            user: operation.header.user,
            started: operation.header.started,
            shadows: operation.items.iter().flat_map(shadows).collect(),
        })
    };
    Journal::of(repo).load()?.into_iter().map(entry).collect()
}

/// What an item did: a line for its worktree with its branch, or one for each branch of a batch.
fn shadows(item: &Item) -> Vec<LogShadow> {
    let last = [&item.stuck, &item.done, &item.reversed];
    let because = item.intent.repair.as_ref().map(|_| item.intent.because.clone());
    let only =
        (item.intent.worktree.is_some() && item.intent.branches.is_empty()).then(|| "only the worktree".to_owned());
    let detail = last.into_iter().flatten().find_map(|mark| mark.why.clone()).or(because).or(only);
    let line = |at: Option<usize>| {
        let branch = at.and_then(|at| item.intent.branches.get(at));
        let name = match (&item.intent.worktree, branch) {
            (None, Some(branch)) => crate::model::short_name(branch.name.as_ref()).to_owned(),
            (Some(_), _) | (None, None) => item.intent.name.clone(),
        };
        LogShadow {
            name,
            branch: branch.map(|branch| (branch.name.clone(), branch.tip.to_string())),
            worktree: item.intent.worktree.as_ref().and_then(|worktree| worktree.path.clone()),
            because: item.intent.because.clone(),
            state: state(item, at),
            detail: detail.clone(),
        }
    };
    match item.intent.branches.len() {
        0 => vec![line(None)],
        several => (0..several).map(|at| line(Some(at))).collect(),
    }
}

fn state(item: &Item, at: Option<usize>) -> &'static str {
    let branch = at.and_then(|at| item.intent.branches.get(at)).map(|branch| branch.name.as_ref());
    let names = |mark: &crate::journal::Mark| match branch {
        Some(branch) => mark.names(branch),
        None => mark.worktree,
    };
    if item.reversed.is_some() {
        "reversed"
    } else if item.undone.as_ref().is_some_and(|mark| names(mark) || item.intent.repair.is_some()) {
        "undone"
    } else if item.stuck.is_some() {
        "stuck"
    } else if item.intent.repair.is_some() {
        if item.done.is_some() { "fixed" } else { "pending" }
    } else if item.released.as_ref().is_some_and(|mark| !names(mark)) {
        "reversed"
    } else if item.done.is_none() {
        "pending"
    } else {
        "released"
    }
}
