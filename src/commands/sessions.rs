//! The host step, after all repositories: session roots of which nothing is left.

use std::collections::HashSet;
use std::path::PathBuf;

use super::fleet;
use super::{Context, sweep};
use crate::error::Result;
use crate::execute::session_root;
use crate::inspect::Host;
use crate::inspect::session_root::session_roots;
use crate::journal::host;
use crate::judge::judge_session_root;
use crate::model::{Code, Hold, On, Outcome, SessionRootFacts, StepKind, StepReport, Timestamp};
use crate::policy::Policy;
use crate::report::{RepositoryReport, SessionRoot};
use crate::sys::{clock, lock};

/// What becomes of every session root once the plan is carried out.
pub fn plan(host: &Host, policy: &Policy, repositories: &[RepositoryReport]) -> Vec<SessionRoot> {
    let shadows = repositories.iter().flat_map(|repository| &repository.shadows);
    let goes = |s: &StepReport| {
        matches!(s.step, StepKind::MoveWorktree | StepKind::DropRegistration) && s.outcome == Outcome::Would
    };
    let going = shadows.filter(|shadow| shadow.steps.iter().any(goes));
    let going: HashSet<PathBuf> =
        going.filter_map(|shadow| shadow.judgement.evidence.shadow.worktree.as_ref()?.path.clone()).collect();
    judged(host, policy, &going)
}

/// Delete those of which nothing is left.
///
/// # Errors
/// When the host's journal cannot be used; then nothing was deleted.
pub fn carry_out(
    context: &Context<'_>,
    policy: &Policy,
    operation: &str,
    repositories: &[RepositoryReport],
) -> Result<Swept> {
    let of_run: Vec<PathBuf> = repositories.iter().map(|repository| repository.common_dir.clone()).collect();
    let host = fleet::host(context, clock::now());
    let mut roots = judged(&host, policy, &HashSet::new());
    let mut deleted = false;
    if roots.iter().any(|root| root.holds.is_empty()) {
        let _lock = lock::exclusive(&host::state_dir()?.join("lock"), sweep::PATIENCE)?;
        for (n, root) in roots.iter_mut().enumerate().filter(|(_, root)| root.holds.is_empty()) {
            match session_root::delete(&root.path, operation, n, &of_run, host.now) {
                Ok(()) => deleted = true,
                Err(error) => root.holds.push(Hold {
                    code: Code::Unverified,
                    on: On::Worktree,
                    message: error.message,
                    remedy: error.hint,
                }),
            }
        }
    }
    let before = host.now.checked_sub(*policy.keep).unwrap_or(Timestamp::MIN);
    // What was deleted is told all the same.
    let expired = host::expire(before);
    if let Err(error) = &expired {
        context.ui.error(error);
    }
    Ok(Swept { roots, deleted, failed: expired.is_err() })
}

/// What became of the session roots.
#[derive(Debug, Default)]
pub struct Swept {
    /// All of them.
    pub roots: Vec<SessionRoot>,
    /// Something was deleted, so that there is something to undo.
    pub deleted: bool,
    /// It could not be looked at.
    pub failed: bool,
}

fn judged(host: &Host, policy: &Policy, going: &HashSet<PathBuf>) -> Vec<SessionRoot> {
    let to_root = |facts: SessionRootFacts| {
        let holds = judge_session_root(&facts, policy, host.now);
        SessionRoot { path: facts.path, holds }
    };
    session_roots(host, going).into_iter().map(to_root).collect()
}
