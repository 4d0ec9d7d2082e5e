//! Every fact, also those that are unknown, were not asked or do not apply.

use std::path::PathBuf;

use gix::bstr::BString;

use super::super::words;
use super::Sheet;
use crate::judge::Judgement;
use crate::model::{BranchFacts, Fact, LockKind, Place, RefAt, RepositoryFacts, Status, Use, WorktreeFacts};
use crate::ui::{safe, safe_lossy, safe_path};

/// Longer lists are cut; git shows all of them better.
const SHOWN: usize = 10;

pub(super) fn render(sheet: &mut Sheet<'_>, judgement: &Judgement, repository: &RepositoryFacts) {
    sheet.heading("facts of the repository");
    fact(sheet, "fetch overwrites pins", &repository.mirror, |specs| {
        list(specs, |(remote, spec)| format!("{} ({})", safe_lossy(spec), safe_lossy(remote)))
    });
    fact(sheet, "grafts", &repository.grafts, yes);
    if let Some(facts) = &judgement.evidence.worktree {
        sheet.heading("facts of the worktree");
        worktree(sheet, facts);
    }
    if let Some(facts) = &judgement.evidence.branch {
        sheet.heading("facts of the branch");
        branch(sheet, facts);
    }
}

fn worktree(sheet: &mut Sheet<'_>, facts: &WorktreeFacts) {
    fact(sheet, "place", &facts.place, |place| match place {
        Place::Present => "present, both links agree".into(),
        Place::Purged(how) => format!("gone for good: {}", safe_lossy(how)),
        Place::Missing { why, .. } => format!("away: {}", safe_lossy(why)),
        Place::NotOurs(what) => format!("not ours: {}", safe_lossy(what)),
    });
    fact(sheet, "you are inside", &facts.current, yes);
    fact(sheet, "lock", &facts.lock, |lock| match lock {
        None => "none".into(),
        Some(lock) => {
            let kind = match &lock.kind {
                LockKind::ByHand => "by hand".into(),
                LockKind::Initializing => "git is creating it".into(),
                LockKind::Undone => "put back by undo".into(),
                LockKind::Releasing => "a release is under way or was interrupted".into(),
                LockKind::Process { pid, stale: true } => format!("stale, process {pid} is gone"),
                LockKind::Process { pid, stale: false } => format!("by process {pid}"),
            };
            format!("{kind}: {}", safe(&lock.reason))
        }
    });
    fact(sheet, "registered", &facts.created, |at| super::super::json::instant(*at));
    fact(sheet, "own work at HEAD", &facts.own_work, yes);
    fact(sheet, "operations, locks", &facts.operation, |all| list(all, |text| safe_lossy(text)));
    fact(sheet, "git status", &facts.status, status);
    fact(sheet, "hidden edits", &facts.hidden_edits, |all| names(all));
    fact(sheet, "ignored", &facts.ignored, |all| names(all));
    fact(sheet, "ignored, inside trees", &facts.ignored_deep, |all| names(all));
    fact(sheet, "undeletable", &facts.undeletable, |all| {
        list(all, |entry| format!("{} ({})", safe(&entry.path), safe_lossy(&entry.why)))
    });
    fact(sheet, "repositories inside", &facts.nested_repositories, |all| names(all));
    fact(sheet, "worktrees inside", &facts.nested_worktrees, |all| list(all, |path: &PathBuf| safe_path(path)));
    fact(sheet, "submodules", &facts.submodules, |all| list(all, |text| safe_lossy(text)));
    fact(sheet, "in use by", &facts.in_use, |all| {
        list(all, |user| match user {
            Use::Process { pid, name, what, path } => {
                format!("process {pid} {} ({what}: {})", safe_lossy(name), safe_path(path))
            }
            Use::Mount(path) => format!("mount {}", safe_path(path)),
        })
    });
    fact(sheet, "only here, from HEAD", &facts.unpushed, |unpushed| {
        let commits = words::count(unpushed.count, "commit");
        if unpushed.detached { format!("{commits} on no branch") } else { commits }
    });
    fact(sheet, "HEAD is in a base", &facts.head_in_base, reached);
    fact(sheet, "private refs", &facts.private_refs, |all| names(all));
    fact(sheet, "leftover staged work", &facts.staged, |all| names(all));
    if let Some(base) = &facts.primary {
        sheet.row("worktree of the base", &safe(base));
    }
}

fn branch(sheet: &mut Sheet<'_>, facts: &BranchFacts) {
    fact(sheet, "symbolic", &facts.symref, yes);
    fact(sheet, "own work", &facts.own_work, yes);
    fact(sheet, "commits in no base", &facts.own_commits, ToString::to_string);
    fact(sheet, "and on no remote", &facts.unpushed, ToString::to_string);
    fact(sheet, "tip is in a base", &facts.in_base, reached);
    fact(sheet, "tip is on a remote", &facts.on_remote, reached);
    fact(sheet, "landed only locally", &facts.landed_locally_only, yes);
    let users = list(&facts.users, |user| {
        let id = user.id.as_ref().map_or("main worktree".into(), |id| safe(id));
        format!("{} in {id} at {}", user.how, safe_path(&user.path))
    });
    sheet.row("named by", &users);
    fact(sheet, "protected", &facts.protected, |why| why.as_deref().map_or("no".into(), safe_lossy));
    fact(sheet, "put back by undo", &facts.undone, yes);
    fact(sheet, "upstream is gone", &facts.upstream_gone, yes);
}

fn fact<T>(sheet: &mut Sheet<'_>, label: &str, fact: &Fact<T>, show: impl Fn(&T) -> String) {
    let value = match fact {
        Fact::Known(value) => show(value),
        Fact::Unknown(error) => format!("unknown: {}", safe_lossy(error)),
        Fact::NotApplicable => "does not apply".into(),
        Fact::NotAsked => "not asked".into(),
    };
    sheet.row(label, &value);
}

fn yes(value: &bool) -> String {
    if *value { "yes" } else { "no" }.into()
}

fn reached(by: &Option<RefAt>) -> String {
    by.as_ref().map_or("no".into(), |(name, at)| format!("{} at {}", safe(name), words::short(*at)))
}

fn status(status: &Status) -> String {
    if status.tracked.is_empty() && status.untracked.is_empty() {
        return "clean".into();
    }
    let endings = if status.only_line_endings { " (line endings only)" } else { "" };
    format!("changed: {}{endings}; untracked: {}", names(&status.tracked), names(&status.untracked))
}

fn names(all: &[BString]) -> String {
    list(all, |name| safe(name))
}

fn list<T>(all: &[T], show: impl Fn(&T) -> String) -> String {
    if all.is_empty() {
        return "none".into();
    }
    let shown: Vec<String> = all.iter().take(SHOWN).map(show).collect();
    let more = if all.len() > SHOWN { format!(" and {} more", all.len() - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
