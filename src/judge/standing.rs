//! Where a shadow's commits stand: landed, unused, on a remote, or only here.

use crate::model::{Base, Evidence, Fact, Landed, Landing, RefAt};

/// A landing with the value of the base that it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The proof.
    pub landed: Landed,
    /// The base's full name and value.
    pub base: RefAt,
}

/// Where the commits of the branch (without one: of HEAD) stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Own work, in the history of a base.
    Landed(Proof),
    /// No own work, and the tip is in a base or on a remote (which).
    Unused(RefAt),
    /// On a remote, not in a base.
    Pushed(RefAt),
    /// So many are nowhere else.
    Unpushed(usize),
    /// A fact is missing; some other rule holds.
    Unknown,
}

/// The facts that it is told from.
struct Commits<'a> {
    own_work: &'a Fact<bool>,
    in_base: &'a Fact<Option<RefAt>>,
    on_remote: &'a Fact<Option<RefAt>>,
    unpushed: Fact<usize>,
    landing: &'a Fact<Landing>,
}

/// The standing of a shadow.
pub fn standing(evidence: &Evidence, bases: &[Base]) -> Standing {
    let commits = match (&evidence.branch, &evidence.worktree) {
        (Some(branch), _) => Commits {
            own_work: &branch.own_work,
            in_base: &branch.in_base,
            on_remote: &branch.on_remote,
            unpushed: branch.unpushed.clone(),
            landing: &branch.landing,
        },
        (None, Some(worktree)) => Commits {
            own_work: &worktree.own_work,
            in_base: &worktree.head_in_base,
            on_remote: &worktree.head_on_remote,
            unpushed: worktree.unpushed.clone_map(|u| u.count),
            landing: &worktree.head_landing,
        },
        (None, None) => return Standing::Unknown,
    };
    tell(&commits, bases)
}

fn tell(commits: &Commits<'_>, bases: &[Base]) -> Standing {
    let in_base = commits.in_base.known().cloned().flatten();
    let on_remote = commits.on_remote.known().cloned().flatten();
    if let (Some(at), Some(false)) = (in_base.as_ref().or(on_remote.as_ref()), commits.own_work.known()) {
        return Standing::Unused(at.clone());
    }
    // Content that landed is safe whoever made the commits; without them in a base somebody did make them.
    if let Some(Landing::Landed(landed)) = commits.landing.known()
        && (in_base.is_none() || commits.own_work.known() == Some(&true))
        && let Some(base) = bases.iter().find(|base| base.name == landed.base)
    {
        return Standing::Landed(Proof { landed: landed.clone(), base: (base.name.clone(), base.tip) });
    }
    match (on_remote, commits.own_work.known(), commits.unpushed.known()) {
        (Some(remote), Some(true), Some(0)) if in_base.is_none() => Standing::Pushed(remote),
        (_, _, Some(count)) if *count > 0 => Standing::Unpushed(*count),
        _ => Standing::Unknown,
    }
}
