//! `git shadow undo`: take back what a run released.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice as _};
use serde::Serialize;

use super::fleet::Failed;
use super::{Context, fleet, sweep};
use crate::error::{Error, Exit, Result};
use crate::execute::undo::{TakenBack, can_undo, names, undo};
use crate::execute::{recover, session_root};
use crate::git::Repository;
use crate::journal::{Journal, Operation, host, of_path};
use crate::model::{last_part, short_name};
use crate::report::Format;
use crate::report::json::written;

/// Take back an operation, or what became of one shadow
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The operation or the shadow; without it the newest operation
    #[arg(value_name = "OPERATION|SHADOW")]
    pub what: Option<OsString>,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    operation: Option<String>,
    restored: Vec<String>,
    missed: Vec<String>,
}

/// Run it.
///
/// # Errors
/// 1 when there is nothing to take back; 128 when the journal is corrupt or the lock is busy.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let mut failed = Failed::of(context);
    let mut repositories = Vec::new();
    for (place, repo) in fleet::repositories(context) {
        repositories.extend(failed.pass(&place, repo)?);
    }
    let newest = match &args.what {
        Some(_) => None,
        None => Some(newest(&mut repositories, &mut failed)?),
    };
    let mut told = Document { schema: "git-shadow.undo.v1", operation: None, restored: Vec::new(), missed: Vec::new() };
    let (mut nothing, mut hint) = (None, false);
    for repo in &repositories {
        let word = newest.as_deref().map(|id| id.as_bytes().as_bstr().to_owned());
        let word = word.or_else(|| args.what.as_ref().map(|what| of_path(Path::new(what)))).unwrap_or_default();
        match one(repo, &word, &context.dir) {
            Ok((operation, TakenBack { restored, missed, locked })) => {
                hint |= locked && !restored.is_empty();
                told.operation = Some(operation);
                told.restored.extend(restored);
                told.missed.extend(missed);
            }
            Err(error) if error.code == "nothing-to-undo" => nothing = nothing.or(Some(error)),
            Err(error) => drop(failed.pass(repo.path(), Err::<(), _>(error))?),
        }
    }
    // Last, because a worktree that comes back may need its folder, and makes it itself.
    let named = args.what.as_ref().and_then(|what| what.to_str().map(ToOwned::to_owned));
    if let Some(operation) = told.operation.clone().or(newest).or(named) {
        let TakenBack { restored, missed, .. } = session_root::undo(&operation)?;
        if !restored.is_empty() || !missed.is_empty() {
            told.operation = Some(operation);
        }
        told.restored.extend(restored);
        told.missed.extend(missed);
    }
    if let (None, Some(error), false) = (&told.operation, nothing, failed.any()) {
        return Err(error);
    }
    let exit = match (failed.any(), told.missed.is_empty()) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Done,
        (false, false) => Exit::No,
    };
    match context.options.format() {
        Format::Json => {
            context.ui.answer(written(&told));
        }
        Format::Porcelain { .. } | Format::Human => {
            let lines = told.restored.iter().map(|what| format!("restored {what}\n"));
            context.ui.answer(
                lines.chain(told.missed.iter().map(|what| format!("not restored: {what}\n"))).collect::<String>(),
            );
            if hint {
                context.ui.hint("locked, so that no run takes them again; 'git shadow release <shadow>' does");
            }
        }
    }
    Ok(exit)
}

/// The newest operation of all that can be taken back.
fn newest(repositories: &mut Vec<Repository>, failed: &mut Failed<'_>) -> Result<String> {
    let mut newest = None;
    for repo in std::mem::take(repositories) {
        let Some(operations) = failed.pass(repo.path(), Journal::of(&repo).load())? else { continue };
        repositories.push(repo);
        let last = operations.into_iter().rev().find(|one| one.items.iter().any(|item| can_undo(item, None)));
        newest = newest.max(last.map(|one| (one.header.started, one.header.operation)));
    }
    let common_dirs: Vec<PathBuf> = repositories.iter().map(|repo| repo.common_dir().to_owned()).collect();
    newest = newest.max(host::newest(&common_dirs)?);
    let exit = if failed.any() { Exit::Failed } else { Exit::No };
    let nothing = Error { exit, ..Error::no("nothing-to-undo", "there is nothing to take back") };
    newest.map(|(_, id)| id).ok_or(nothing)
}

fn one(repo: &Repository, word: &BString, dir: &Path) -> Result<(String, TakenBack)> {
    let _lock = sweep::lock(repo)?;
    let journal = Journal::of(repo);
    recover(repo, &journal)?;
    let operations = journal.load()?;
    let mut told = TakenBack::default();
    if let Some(mut operation) =
        operations.iter().find(|one| one.header.operation.as_bytes() == word.as_bytes()).cloned()
    {
        // The last thing done is the first to be taken back.
        for item in operation.items.iter_mut().rev().filter(|item| can_undo(item, None)) {
            add(&mut told, undo(repo, item, None)?);
        }
        return something(operation.header.operation, told, word);
    }
    let (operation, number, branch) = find(&operations, word, dir).ok_or_else(|| {
        Error::no("nothing-to-undo", format!("no operation and no released shadow is named '{word}'"))
            .hint("'git shadow log' shows them")
    })?;
    let mut operation = operation.clone();
    if let Some(item) = operation.items.iter_mut().find(|item| item.number == number)
        && can_undo(item, branch.as_ref().map(AsRef::as_ref))
    {
        add(&mut told, undo(repo, item, branch.as_ref().map(AsRef::as_ref))?);
    }
    something(operation.header.operation, told, word)
}

fn something(operation: String, told: TakenBack, word: &BString) -> Result<(String, TakenBack)> {
    if told == TakenBack::default() {
        return Err(Error::no("nothing-to-undo", format!("nothing is left to take back of '{word}'"))
            .hint("'git shadow log' shows what was undone"));
    }
    Ok((operation, told))
}

fn add(told: &mut TakenBack, more: TakenBack) {
    told.restored.extend(more.restored);
    told.missed.extend(more.missed);
    told.locked |= more.locked;
}

/// The newest item that goes by this name, and of a batch the branch; one that can be taken back before others.
fn find<'a>(
    operations: &'a [Operation],
    word: &BString,
    dir: &Path,
) -> Option<(&'a Operation, usize, Option<BString>)> {
    let path = of_path(&dir.join(word.to_path_lossy()));
    let is_word = |name: &BString| *name == *word || *name == path || last_part(name.as_bstr()) == *word;
    let mut found = Vec::new();
    for operation in operations.iter().rev() {
        for item in operation.items.iter().rev().filter(|item| names(item).iter().any(is_word)) {
            let branches = item.intent.branches.iter().map(|branch| &branch.name);
            let branch = branches
                .filter(|_| item.intent.worktree.is_none())
                .find(|name| is_word(name) || is_word(&short_name(name.as_bstr()).to_owned()));
            let open = can_undo(item, branch.map(|name| name.as_bstr()));
            found.push((open, (operation, item.number, branch.cloned())));
        }
    }
    let at = found.iter().position(|(open, _)| *open).unwrap_or(0);
    found.into_iter().nth(at).map(|(_, found)| found)
}
