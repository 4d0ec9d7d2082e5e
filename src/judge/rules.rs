//! The table: one row a hold, in the order in which holds are reported.

mod branch;
mod worktree;

pub(super) use branch::checked_out;
pub(super) use worktree::in_use_of;

use super::Terms;
use super::standing::Standing;
use crate::model::{Code, Evidence, Fact, Hold, Landing, On, Place, RepositoryFacts, Timestamp, WorktreeFacts};
use crate::policy::Policy;

/// One shadow before the judge.
pub(super) struct Case<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) repository: &'a RepositoryFacts,
    pub(super) policy: &'a Policy,
    pub(super) terms: Terms,
    pub(super) now: Timestamp,
    pub(super) standing: Standing,
}

type Rule = fn(&Case<'_>) -> Vec<Hold>;

/// Every rule but `checked-out`, which needs the verdicts of the others.
pub(super) const RULES: &[Rule] = &[
    super::unverified::unverified,
    worktree::current,
    worktree::live,
    worktree::in_use,
    worktree::locked,
    worktree::initializing,
    worktree::operation,
    worktree::dirty,
    worktree::untracked,
    worktree::hidden_edits,
    worktree::ignored,
    worktree::undeletable,
    worktree::nested_repo,
    worktree::nested_worktree,
    worktree::submodule,
    branch::unpushed,
    worktree::worktree_refs,
    worktree::staged,
    worktree::missing,
    worktree::identity,
    super::age::grace,
    branch::unlanded,
    branch::partial,
    branch::reverted,
    branch::protected,
    branch::symref,
    branch::base_unresolved,
    branch::shallow,
    branch::mirror,
];

impl<'a> Case<'a> {
    pub(super) fn worktree(&self) -> Option<&'a WorktreeFacts> {
        self.evidence.worktree.as_ref()
    }

    /// Files are there that a branch hold on unique commits keeps too.
    pub(super) fn is_present(&self) -> bool {
        self.worktree().is_some_and(|w| matches!(w.place, Fact::Known(Place::Present) | Fact::Unknown(_)))
    }

    pub(super) fn landing(&self) -> Option<&'a Landing> {
        match (&self.evidence.branch, self.worktree()) {
            (Some(branch), _) => branch.landing.known(),
            (None, Some(worktree)) => worktree.head_landing.known(),
            (None, None) => None,
        }
    }

    /// `unpushed`, `partial`, `reverted` and `shallow` hold a present worktree beside its branch.
    pub(super) fn on_commits(&self) -> On {
        match (self.is_present(), self.evidence.branch.is_some()) {
            (true, true) => On::Both,
            (true, false) => On::Worktree,
            (false, _) => On::Branch,
        }
    }
}

pub(super) fn hold(code: Code, on: On, message: impl Into<String>, remedy: &str) -> Hold {
    let remedy = (!remedy.is_empty()).then(|| remedy.to_owned());
    Hold { code, on, message: message.into(), remedy }
}

/// `2 paths changed: a.rs, b.rs and 3 more`
pub(super) fn named<T: std::fmt::Display>(one: &str, many: &str, items: &[T]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = items.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = match items.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{} {}: {}{more}", items.len(), if items.len() == 1 { one } else { many }, shown.join(", "))
}

pub(super) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A hold on the worktree that lists paths, when there are some.
pub(super) fn paths<T: std::fmt::Display>(
    fact: Option<&Vec<T>>,
    code: Code,
    words: [&str; 2],
    remedy: &str,
) -> Vec<Hold> {
    match fact {
        Some(paths) if !paths.is_empty() => {
            vec![hold(code, On::Worktree, named(words[0], words[1], paths), remedy)]
        }
        _ => Vec::new(),
    }
}
