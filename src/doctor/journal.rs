//! What runs left in the journal: interrupted, stuck, not readable; pins and moved trees that nobody answers for.

use std::collections::BTreeMap;

use super::{Fix, Found, Scene};
use crate::error::{Error, Result, chain};
use crate::hooks::failure::Failure;
use crate::journal::{Cursor, Item, Journal, Seen, Undone};
use crate::model::{Finding, StepKind, Trouble, shell};
use crate::sys::{lock, tree};

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let mut ids = Vec::new();
    // What a run has under way is not left over.
    let is_running = lock::is_held(&scene.repo.shadow_dir().join("lock"))?;
    for (id, operation) in Journal::of(scene.repo).survey()? {
        match operation {
            Err(error) => found.push(corrupt(scene, &error, &format!("operations/{id}")).into()),
            Ok(None) => {}
            Ok(Some(_)) if is_running => {}
            Ok(Some(operation)) => {
                for item in &operation.items {
                    found.extend(left(scene, item)?);
                }
            }
        }
        ids.push(id);
    }
    for (name, read) in [
        ("seen", Seen::read(scene.repo).map(|_| ())),
        ("undone", Undone::read(scene.repo).map(|_| ())),
        ("cursor", Cursor::read(scene.repo).map(|_| ())),
        ("hook-failed", Failure::read(scene.repo).map(|_| ())),
    ] {
        found.extend(read.err().map(|error| corrupt(scene, &error, name).into()));
    }
    if !is_running {
        found.extend(pins(scene, &ids)?.into_iter().map(Found::from));
    }
    Ok(found)
}

/// A file that stops every run; what it would have been good for is in the error's hint.
fn corrupt(scene: &Scene<'_>, error: &Error, name: &str) -> Finding {
    let dir = scene.repo.shadow_dir();
    let (from, last) = (dir.join(name), name.rsplit('/').next().unwrap_or(name));
    let mut finding = Finding::new(Trouble::CorruptJournal, error.message.clone())
        .remedy(format!("mv {} {}", shell::path(&from), shell::path(&dir.join(format!("{last}.aside")))))
        .at(from);
    finding.detail.clone_from(&error.hint);
    finding
}

fn left(scene: &Scene<'_>, item: &Item) -> Result<Option<Found>> {
    let (operation, name) = (&item.operation, &item.intent.name);
    if let (Some(stuck), None) = (&item.stuck, &item.reversed) {
        let why = stuck.why.as_deref().unwrap_or("something has taken its place");
        let message = format!("operation {operation} cannot put '{name}' back: {why}");
        let remedy = format!("{} shadow undo {operation}", scene.git);
        return Ok(Some(Finding::new(Trouble::Stuck, message).remedy(remedy).at(&item.dir).into()));
    }
    if !item.is_settled() {
        let (step, next) = match item.released {
            Some(_) => (StepKind::Finish, "the next run finishes it"),
            None => (StepKind::Restore, "the next run puts it back or finishes it"),
        };
        let message = format!("operation {operation} was interrupted at '{name}'; {next}");
        let mut finding = Finding::new(Trouble::Interrupted, message)
            .remedy(format!("{} shadow prune-sessions --yes", scene.git))
            .at(&item.dir);
        finding.step = Some(step);
        return Ok(Some(Found { finding, fix: Some(Fix::Recover) }));
    }
    let hidden = item.intent.worktree.as_ref().and_then(|worktree| worktree.hidden());
    let Some(hidden) = hidden.filter(|_| item.undone.is_none()) else { return Ok(None) };
    if tree::stat(&hidden)?.is_none() {
        return Ok(None);
    }
    let message = format!("operation {operation} left '{}', with files that nothing proves", hidden.display());
    let aside = super::words::aside(&hidden);
    let remedy = format!("mv {} {}", shell::path(&hidden), shell::path(&aside));
    Ok(Some(Finding::new(Trouble::LeftoverTree, message).remedy(remedy).at(hidden).into()))
}

/// Pins whose operation is not there: nothing will ever drop them, and nothing tells what they keep.
fn pins(scene: &Scene<'_>, ids: &[String]) -> Result<Vec<Finding>> {
    let unread = |e: &dyn std::error::Error| Error::failed("refs", format!("cannot read the refs: {}", chain(e)));
    let mut unowned: BTreeMap<String, usize> = BTreeMap::new();
    let platform = scene.gix.references().map_err(|e| unread(&e))?;
    for reference in platform.prefixed("refs/shadow/kept/").map_err(|e| unread(&e))? {
        let reference = reference.map_err(|e| Error::failed("refs", format!("cannot read a pin: {e}")))?;
        let name = reference.name().as_bstr().to_string();
        let operation = name.split('/').nth(3).unwrap_or_default();
        if !ids.iter().any(|id| id == operation) {
            *unowned.entry(operation.to_owned()).or_default() += 1;
        }
    }
    Ok(unowned
        .into_iter()
        .map(|(operation, number)| {
            let prefix = format!("refs/shadow/kept/{operation}");
            let git = &scene.git;
            let message = format!("'{prefix}' ({number}) keeps commits, and the journal has no such operation");
            let mut finding = Finding::new(Trouble::UnownedPins, message)
                .remedy(format!("{git} for-each-ref --format='delete %(refname)' {prefix} | {git} update-ref --stdin"))
                .of(prefix.as_str());
            finding.detail = Some(format!("'{git} log --oneline --no-walk --glob={prefix}' shows them"));
            finding
        })
        .collect())
}
