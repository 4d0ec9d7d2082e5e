//! Operations in progress, told by the registration's own state files; lock files count as one.

use std::path::Path;

use gix::bstr::BString;

use super::files::{self, Kind, full};
use crate::error::Result;
use crate::git::Repository;
use crate::model::Registration;

/// Name in the git directory, and what it means that it is there. `AUTO_MERGE` alone means nothing: git leaves it behind.
const STATES: &[(&str, &str)] = &[
    ("rebase-merge", "rebase in progress"),
    ("rebase-apply", "rebase or am in progress"),
    ("MERGE_HEAD", "merge in progress"),
    ("MERGE_AUTOSTASH", "autostash waits to be applied"),
    ("CHERRY_PICK_HEAD", "cherry-pick in progress"),
    ("REVERT_HEAD", "revert in progress"),
    ("sequencer", "sequence of cherry-picks or reverts in progress"),
    ("BISECT_LOG", "bisect in progress"),
    ("BISECT_START", "bisect in progress"),
    ("NOTES_MERGE_PARTIAL", "merge of notes in progress"),
    ("NOTES_MERGE_WORKTREE", "merge of notes in progress"),
];

/// What is in progress in a registration, each in a few words.
///
/// # Errors
/// When a state file or directory cannot be looked at.
pub fn in_progress(repo: &Repository, registration: &Registration) -> Result<Vec<String>> {
    let mut found = of_git_dir(&registration.git_dir)?;
    // Someone updates the branch this instant, or died doing so.
    for (name, _) in &registration.names {
        let mut lock = name.clone();
        lock.extend_from_slice(b".lock");
        if files::exists(&full(repo.common_dir(), lock.as_ref())?)? {
            found.push(format!("'{name}.lock' exists"));
        }
    }
    Ok(found)
}

/// The same for any git directory, a submodule's for instance.
///
/// # Errors
/// When a state file or directory cannot be looked at.
pub fn of_git_dir(git_dir: &Path) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for (name, _) in files::list(git_dir)? {
        let state = STATES.iter().find(|(state, _)| name == *state).map(|(_, what)| (*what).to_owned());
        let locked = name.ends_with(b".lock");
        let what = state.or_else(|| locked.then(|| format!("'{name}' exists")));
        found.extend(what.filter(|what| !found.contains(what)));
    }
    found.sort();
    found.extend(locks_below(&git_dir.join("refs"), "refs")?);
    Ok(found)
}

/// Whether anything but these states is in progress. Lock files do not count: a hook runs while git holds some.
///
/// # Errors
/// When the directory cannot be looked at.
pub fn is_busy(git_dir: &Path, but: &[&str]) -> Result<bool> {
    let is_state = |name: &BString| STATES.iter().any(|(state, _)| name == state && !but.contains(state));
    Ok(files::list(git_dir)?.iter().any(|(name, _)| is_state(name)))
}

/// Lock files of private refs.
fn locks_below(dir: &Path, shown: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, kind) in files::list(dir)? {
        let shown = format!("{shown}/{name}");
        if kind == Kind::Directory {
            found.extend(locks_below(&full(dir, name.as_ref())?, &shown)?);
        } else if name.ends_with(b".lock") {
            found.push(format!("'{shown}' exists"));
        }
    }
    Ok(found)
}
