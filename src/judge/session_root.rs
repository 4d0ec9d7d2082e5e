//! May a session root go? Only when nothing is left in it but links and empty directories, and nobody comes back.

use super::age::since;
use super::rules::{hold, in_use_of, named};
use crate::model::{Code, Fact, Hold, LeaseState, On, SessionRootFacts, Timestamp};
use crate::policy::Policy;

/// Every reason to keep it; none: it goes.
pub fn judge_session_root(facts: &SessionRootFacts, policy: &Policy, now: Timestamp) -> Vec<Hold> {
    let mut holds = Vec::new();
    let mut add = |code, message: String, remedy: &str| holds.push(hold(code, On::Worktree, message, remedy));
    let errors = [
        facts.misplaced.error(),
        facts.worktrees.error(),
        facts.contents.error(),
        facts.undeletable.error(),
        facts.in_use.error(),
    ];
    for error in errors.into_iter().flatten() {
        add(Code::Unverified, error.to_owned(), "");
    }
    match &facts.lease.state {
        LeaseState::Live(why) => add(Code::Live, format!("session '{}': {why}", facts.lease.id), "end the session"),
        LeaseState::Dead if facts.lease.finished.is_none() => {
            let age = facts.lease.newest.map(|newest| since(newest, now));
            if age.is_some_and(|age| age < *policy.grace.dead) {
                add(Code::Grace, format!("session '{}' ended unfinished", facts.lease.id), "wait");
            }
        }
        LeaseState::Dead | LeaseState::Released => {}
    }
    if let Some(Some(why)) = facts.misplaced.known() {
        add(Code::Identity, why.clone(), "");
    }
    if let Some(users) = facts.in_use.known()
        && let Some((message, remedy)) = in_use_of(users)
    {
        add(Code::InUse, message, remedy);
    }
    let shown = |paths: &Vec<std::path::PathBuf>| paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>();
    if let Some(left) = facts.worktrees.known().map(shown).filter(|left| !left.is_empty()) {
        add(
            Code::NestedWorktree,
            named("worktree is there or registered", "worktrees are there or registered", &left),
            "release it first",
        );
    }
    if let Some(left) = facts.contents.known().filter(|left| !left.is_empty()) {
        add(Code::Untracked, named("file is left", "files are left", left), "move or delete them");
    }
    if let Some(left) = facts.undeletable.known().filter(|left| !left.is_empty()) {
        let shown: Vec<String> = left.iter().map(|u| format!("{} ({})", u.path, u.why)).collect();
        add(Code::Undeletable, named("path cannot be deleted", "paths cannot be deleted", &shown), "");
    }
    if holds.is_empty() && (facts.contents == Fact::NotAsked || facts.in_use == Fact::NotAsked) {
        holds.push(hold(Code::Unverified, On::Worktree, "not looked into", ""));
    }
    holds
}
