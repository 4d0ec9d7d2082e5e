//! Every rule: whether it holds, is clear, or could not be told.

use super::Sheet;
use crate::judge::Judgement;
use crate::model::{BranchFacts, Code, Fact, On, RepositoryFacts, WorktreeFacts};

/// How a rule came out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Clear,
    Unknown,
    NotAsked,
    NotApplicable,
}

impl State {
    fn of<T>(fact: &Fact<T>) -> State {
        match fact {
            Fact::Known(_) => State::Clear,
            Fact::Unknown(_) => State::Unknown,
            Fact::NotAsked => State::NotAsked,
            Fact::NotApplicable => State::NotApplicable,
        }
    }

    fn word(self) -> &'static str {
        match self {
            State::Clear => "clear",
            State::Unknown => "unknown",
            State::NotAsked => "not asked",
            State::NotApplicable => "-",
        }
    }
}

pub(super) fn render(sheet: &mut Sheet<'_>, judgement: &Judgement, repository: &RepositoryFacts) {
    for code in Code::ALL {
        // One hold may stand for the rules of both halves that share its code.
        let is_held = judgement
            .holds
            .iter()
            .any(|hold| hold.code == *code || (hold.on == On::Both && hold.code.as_str() == code.as_str()));
        let word = if is_held { "holds" } else { state(*code, judgement, repository).word() };
        let label = match code {
            Code::UnpushedHead => "unpushed (worktree)",
            Code::Unpushed => "unpushed (branch)",
            code => code.as_str(),
        };
        sheet.row(label, &format!("{word:9}  {}", code.summary()));
    }
}

/// What the facts of a rule that does not hold say.
fn state(code: Code, judgement: &Judgement, repository: &RepositoryFacts) -> State {
    let evidence = &judgement.evidence;
    let worktree = |facts: &[fn(&WorktreeFacts) -> State]| {
        evidence.worktree.as_ref().map_or(State::NotApplicable, |known| worst(facts.iter().map(|fact| fact(known))))
    };
    let branch = |fact: fn(&BranchFacts) -> State| evidence.branch.as_ref().map_or(State::NotApplicable, fact);
    match code {
        Code::Unverified => State::Clear,
        Code::Current => worktree(&[|w| State::of(&w.current)]),
        Code::Live => State::of(&evidence.lease),
        Code::InUse => worktree(&[|w| State::of(&w.in_use)]),
        Code::Locked => worktree(&[|w| State::of(&w.lock)]),
        Code::Initializing => worktree(&[|w| State::of(&w.lock), |w| State::of(&w.created)]),
        Code::Operation => worktree(&[|w| State::of(&w.operation)]),
        Code::Dirty | Code::Untracked => worktree(&[|w| State::of(&w.status)]),
        Code::HiddenEdits => worktree(&[|w| State::of(&w.hidden_edits)]),
        Code::Ignored => worktree(&[|w| State::of(&w.ignored), |w| State::of(&w.ignored_deep)]),
        Code::Undeletable => worktree(&[|w| State::of(&w.undeletable)]),
        Code::NestedRepo => worktree(&[|w| State::of(&w.nested_repositories)]),
        Code::NestedWorktree => worktree(&[|w| State::of(&w.nested_worktrees)]),
        Code::Submodule => worktree(&[|w| State::of(&w.submodules)]),
        Code::UnpushedHead => worktree(&[|w| State::of(&w.unpushed)]),
        Code::WorktreeRefs => worktree(&[|w| State::of(&w.private_refs)]),
        Code::Staged => worktree(&[|w| State::of(&w.staged)]),
        Code::Missing | Code::Identity => worktree(&[|w| State::of(&w.place)]),
        Code::Grace => State::of(&evidence.age),
        Code::Unlanded => branch(|b| State::of(&b.on_remote)),
        Code::Unpushed => branch(|b| State::of(&b.unpushed)),
        Code::Partial | Code::Reverted | Code::Shallow => branch(|b| State::of(&b.landing)),
        Code::CheckedOut => branch(|_| State::Clear),
        Code::Protected => branch(|b| State::of(&b.protected)),
        Code::Symref => branch(|b| State::of(&b.symref)),
        Code::BaseUnresolved => State::of(&repository.bases),
        Code::Mirror => State::of(&repository.mirror),
    }
}

/// One fact of several that is unknown leaves the rule unknown.
fn worst(states: impl Iterator<Item = State>) -> State {
    let rank = |state: &State| match state {
        State::NotApplicable => 0,
        State::Clear => 1,
        State::NotAsked => 2,
        State::Unknown => 3,
    };
    states.max_by_key(rank).unwrap_or(State::NotApplicable)
}
