//! Holds that commits, a branch and its repository have.

use std::collections::HashSet;

use gix::bstr::{BString, ByteSlice as _};

use super::{Case, hold, plural};
use crate::judge::standing::Standing;
use crate::model::{Code, Evidence, Hold, Landing, On, Unpushed, shell, short_name};

pub(super) fn unpushed(case: &Case<'_>) -> Vec<Hold> {
    let landed_locally = case.policy.landing_pushed.value
        && case.evidence.branch.as_ref().is_some_and(|b| b.landed_locally_only.known() == Some(&true));
    if landed_locally {
        let message = "landed on a local base that is not pushed";
        return vec![hold(Code::Unpushed, case.on_commits(), message, "push it")];
    }
    match &case.standing {
        Standing::Unpushed(count) => {
            let detached =
                matches!(case.worktree().and_then(|w| w.unpushed.known()), Some(Unpushed { detached: true, .. }));
            if case.evidence.branch.is_none() && !case.is_present() && !detached {
                return Vec::new();
            }
            let on = if case.evidence.branch.is_none() { On::Worktree } else { case.on_commits() };
            let code = if on == On::Branch { Code::Unpushed } else { Code::UnpushedHead };
            let verb = if *count == 1 { "exists" } else { "exist" };
            let gone = match case.evidence.branch.as_ref().and_then(|b| b.upstream_gone.known()) {
                Some(true) => "; its upstream is gone, which proves nothing",
                Some(false) | None => "",
            };
            let message = format!("{} {verb} on no remote{gone}", plural(*count, "commit", "commits"));
            let mut holds = vec![hold(code, on, message, "push or merge them")];
            holds.extend(detached_head(case, *count));
            holds
        }
        Standing::Landed(_) | Standing::Unused(_) | Standing::Pushed(_) | Standing::Unknown => {
            detached_head(case, 0).into_iter().collect()
        }
    }
}

/// HEAD of a worktree that is not at its branch's tip (mid-rebase, or detached beside it) may reach more.
fn detached_head(case: &Case<'_>, told: usize) -> Option<Hold> {
    case.evidence.branch.as_ref()?;
    let worktree = case.worktree()?;
    let Unpushed { count, detached } = worktree.unpushed.known()?;
    let landed = matches!(worktree.head_landing.known(), Some(Landing::Landed(_)));
    let other = case.evidence.shadow.worktree.as_ref()?.head.commit() != case.evidence.shadow.branch.as_ref()?.tip;
    if *count == 0 || *count == told || landed || !other || !(*detached || case.is_present()) {
        return None;
    }
    let verb = if *count == 1 { "exists" } else { "exist" };
    let message = format!("HEAD reaches {} that {verb} on no remote", plural(*count, "commit", "commits"));
    Some(hold(Code::UnpushedHead, On::Worktree, message, "push or merge them"))
}

pub(super) fn unlanded(case: &Case<'_>) -> Vec<Hold> {
    match &case.standing {
        Standing::Pushed((name, _)) if case.evidence.branch.is_some() => {
            let message = format!("pushed as {}, not landed", short_name(name.as_bstr()));
            let remedy = "merge it; if it was merged, 'git shadow prune-sessions --fetch' sees it";
            vec![hold(Code::Unlanded, On::Branch, message, remedy)]
        }
        Standing::Landed(_) | Standing::Unused(_) | Standing::Pushed(_) | Standing::Unpushed(_) | Standing::Unknown => {
            Vec::new()
        }
    }
}

pub(super) fn partial(case: &Case<'_>) -> Vec<Hold> {
    match case.landing() {
        Some(Landing::Partial { landed, missing }) => {
            let shown: Vec<String> = missing.iter().map(|id| id.to_hex_with_len(7).to_string()).collect();
            let all = landed.len() + missing.len();
            let verb = if missing.len() == 1 { "has" } else { "have" };
            let message = format!("{} of {all} commits {verb} not landed: {}", missing.len(), shown.join(", "));
            vec![hold(Code::Partial, case.on_commits(), message, "land the rest, or delete the branch yourself")]
        }
        Some(Landing::Landed(_) | Landing::Reverted { .. } | Landing::Unproven | Landing::CutOff) | None => Vec::new(),
    }
}

pub(super) fn reverted(case: &Case<'_>) -> Vec<Hold> {
    match case.landing() {
        Some(Landing::Reverted { landed, by }) => {
            let by = by.map(|by| format!(" by {}", by.to_hex_with_len(7))).unwrap_or_default();
            let message = format!("landed as {} and was undone{by}", landed.commit.to_hex_with_len(7));
            vec![hold(Code::Reverted, case.on_commits(), message, "land it again, or delete the branch yourself")]
        }
        Some(Landing::Landed(_) | Landing::Partial { .. } | Landing::Unproven | Landing::CutOff) | None => Vec::new(),
    }
}

/// Needs to know which registrations stay.
pub(in crate::judge) fn checked_out(evidence: &Evidence, staying: &HashSet<BString>) -> Vec<Hold> {
    let Some(branch) = &evidence.branch else { return Vec::new() };
    let own = evidence.shadow.worktree.as_ref().map(|r| &r.id);
    let users = branch.users.iter().filter(|user| match &user.id {
        // Its own worktree holds it without a code here.
        Some(id) => Some(id) != own && staying.contains(id),
        None => true,
    });
    users
        .map(|user| {
            let message = format!("{} at '{}'", user.how, user.path.display());
            hold(Code::CheckedOut, On::Branch, message, "switch that worktree to another branch")
        })
        .collect()
}

pub(super) fn protected(case: &Case<'_>) -> Vec<Hold> {
    let mut holds = Vec::new();
    if let Some(Some(why)) = case.evidence.branch.as_ref().and_then(|b| b.protected.known()) {
        holds.push(hold(Code::Protected, On::Both, why.clone(), ""));
    }
    if let Some(base) = case.worktree().and_then(|w| w.primary.as_ref()) {
        let message = format!("the worktree is named after the base '{}'", short_name(base.as_bstr()));
        holds.push(hold(Code::Protected, On::Both, message, ""));
    }
    holds
}

pub(super) fn symref(case: &Case<'_>) -> Vec<Hold> {
    match case.evidence.branch.as_ref().and_then(|b| b.symref.known()) {
        Some(true) => vec![hold(
            Code::Symref,
            On::Branch,
            "the branch is a symbolic ref",
            "'git symbolic-ref --delete', if nothing needs it",
        )],
        Some(false) | None => Vec::new(),
    }
}

pub(super) fn base_unresolved(case: &Case<'_>) -> Vec<Hold> {
    let error = case.repository.bases.error();
    error.map(|error| hold(Code::BaseUnresolved, On::Both, error, "")).into_iter().collect()
}

pub(super) fn shallow(case: &Case<'_>) -> Vec<Hold> {
    match case.landing() {
        Some(Landing::CutOff) => {
            let message = "history is too short to prove that it landed";
            vec![hold(Code::Shallow, case.on_commits(), message, "'git fetch --unshallow'")]
        }
        Some(Landing::Landed(_) | Landing::Partial { .. } | Landing::Reverted { .. } | Landing::Unproven) | None => {
            Vec::new()
        }
    }
}

pub(super) fn mirror(case: &Case<'_>) -> Vec<Hold> {
    let Some(found) = case.repository.mirror.known() else { return Vec::new() };
    let to_hold = |(remote, refspec): &(String, String)| {
        let message = format!("fetching '{refspec}' from '{remote}' would drop what undo needs");
        let remedy = format!("git config --add {} '^refs/shadow/*'", shell::word(format!("remote.{remote}.fetch")));
        hold(Code::Mirror, On::Both, message, &remedy)
    };
    found.iter().map(to_hold).collect()
}
