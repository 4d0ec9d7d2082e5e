//! The first row: a fact that could not be read holds.

use super::rules::{Case, hold};
use crate::model::{BranchFacts, Code, Fact, Head, Hold, On, WorktreeFacts};

/// One hold an error, naming every fact that failed with it.
pub(super) fn unverified(case: &Case<'_>) -> Vec<Hold> {
    let mut errors: Vec<(String, Vec<&str>)> = Vec::new();
    let mut add = |name: &'static str, error: Option<&str>| {
        let Some(error) = error else { return };
        match errors.iter_mut().find(|(known, _)| known == error) {
            Some((_, names)) => names.push(name),
            None => errors.push((error.to_owned(), vec![name])),
        }
    };
    if let Some(registration) = &case.evidence.shadow.worktree {
        match &registration.head {
            Head::Broken(error) => add("HEAD", Some(error)),
            Head::Branch(..) | Head::Detached(_) => {}
        }
        add("the branches it names", registration.unread.as_deref());
    }
    if let Some(facts) = &case.evidence.worktree {
        for (name, error) in worktree(facts) {
            add(name, error);
        }
        if case.evidence.branch.is_none() {
            add("landing", facts.head_landing.error());
        }
    }
    for (name, error) in case.evidence.branch.iter().flat_map(branch) {
        add(name, error);
    }
    add("lease", case.evidence.lease.error());
    add("age", case.evidence.age.error());
    add("fetch refspecs", case.repository.mirror.error());
    add("grafts", case.repository.grafts.error());
    let mut holds: Vec<Hold> = errors
        .into_iter()
        .map(|(error, names)| {
            let message = format!("cannot tell {}: {error}", names.join(", "));
            hold(Code::Unverified, On::Both, message, "repair it; git shadow explain <shadow> shows all that is known")
        })
        .collect();
    if case.repository.grafts == Fact::Known(true) {
        let message = "grafts are in use: history is not what it seems";
        holds.push(hold(Code::Unverified, On::Both, message, "git replace --convert-graft-file"));
    }
    holds
}

/// The first fact that the thrifty depth left out.
pub(super) fn not_asked(facts: &WorktreeFacts) -> Option<&'static str> {
    let asked = [
        ("place", facts.place == Fact::NotAsked),
        ("current", facts.current == Fact::NotAsked),
        ("lock", facts.lock == Fact::NotAsked),
        ("operation", facts.operation == Fact::NotAsked),
        ("status", facts.status == Fact::NotAsked),
        ("hidden edits", facts.hidden_edits == Fact::NotAsked),
        ("ignored files", facts.ignored == Fact::NotAsked),
        ("ignored files", facts.ignored_deep == Fact::NotAsked),
        ("what can be deleted", facts.undeletable == Fact::NotAsked),
        ("nested repositories", facts.nested_repositories == Fact::NotAsked),
        ("nested worktrees", facts.nested_worktrees == Fact::NotAsked),
        ("submodules", facts.submodules == Fact::NotAsked),
        ("use", facts.in_use == Fact::NotAsked),
        ("private refs", facts.private_refs == Fact::NotAsked),
        ("index", facts.staged == Fact::NotAsked),
    ];
    asked.into_iter().find(|(_, missing)| *missing).map(|(name, _)| name)
}

fn worktree(facts: &WorktreeFacts) -> Vec<(&'static str, Option<&str>)> {
    vec![
        ("place", facts.place.error()),
        ("current", facts.current.error()),
        ("lock", facts.lock.error()),
        ("creation", facts.created.error()),
        ("own work", facts.own_work.error()),
        ("operation", facts.operation.error()),
        ("status", facts.status.error()),
        ("hidden edits", facts.hidden_edits.error()),
        ("ignored files", facts.ignored.error()),
        ("ignored files", facts.ignored_deep.error()),
        ("what can be deleted", facts.undeletable.error()),
        ("nested repositories", facts.nested_repositories.error()),
        ("nested worktrees", facts.nested_worktrees.error()),
        ("submodules", facts.submodules.error()),
        ("use", facts.in_use.error()),
        ("unpushed commits", facts.unpushed.error()),
        ("private refs", facts.private_refs.error()),
        ("index", facts.staged.error()),
    ]
}

fn branch(facts: &BranchFacts) -> Vec<(&'static str, Option<&str>)> {
    vec![
        ("ref", facts.symref.error()),
        ("own work", facts.own_work.error()),
        ("own commits", facts.own_commits.error()),
        ("unpushed commits", facts.unpushed.error()),
        ("base", facts.in_base.error()),
        ("remote", facts.on_remote.error()),
        ("landing", facts.landing.error()),
        ("protection", facts.protected.error()),
        ("undo mark", facts.undone.error()),
    ]
}
