//! Which shadows there are: branches by pattern, worktrees by branch, root or lease. Names are bytes.

pub mod below;
mod registration;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice as _};

pub use registration::{created, registered_paths, registrations};

use crate::error::{Error, Result};
use crate::git::Repository;
use crate::git::refs::{Refs, Target};
use crate::lease::Leases;
use crate::model::{Branch, BranchUser, Head, Registration, Shadow, short_name};
use crate::policy::Policy;

/// Everything that was found in a repository.
#[derive(Debug)]
pub struct Discovery {
    /// All branches and remote-tracking refs.
    pub refs: Refs,
    /// All registrations, foreign ones too, sorted by id.
    pub registrations: Vec<Registration>,
    /// Who names which branch: every linked worktree and the main one.
    pub users: Vec<(BString, BranchUser)>,
    /// Ours and foreign ones, sorted by name.
    pub shadows: Vec<Shadow>,
    /// Every lease that may name one of them: the machine's and the repository's own.
    pub leases: Leases,
}

/// Look; `leases` are the machine's.
///
/// # Errors
/// When refs or registrations cannot be listed.
pub fn discover(repo: &Repository, gix: &gix::Repository, policy: &Policy, leases: &Leases) -> Result<Discovery> {
    let refs = Refs::read(gix)?;
    let registrations = registrations(repo, &refs)?;
    let users = users(repo, &refs, &registrations);
    let leases = leases.with_own(repo);
    let shadows = shadows(repo, policy, &leases, &refs, &registrations);
    Ok(Discovery { refs, registrations, users, shadows, leases })
}

/// Who names which branch at this moment, for the last look before one goes. A registration that cannot be read holds
/// its own shadow and no other: its worktree and its index stay as they are, and the tip of a branch that goes is pinned.
///
/// # Errors
/// When refs or registrations cannot be listed, or what the main worktree names cannot be read.
pub fn users_now(repo: &Repository) -> Result<Vec<(BString, BranchUser)>> {
    let refs = Refs::read(&repo.local())?;
    let registrations = registrations(repo, &refs)?;
    if main_checkout(repo).is_some()
        && let (_, Some(why)) = registration::names(repo.common_dir(), &refs)
    {
        return Err(Error::failed("bad-registrations", format!("the main worktree may name any branch: {why}")));
    }
    Ok(users(repo, &refs, &registrations))
}

/// Where somebody may work on what the repository's own HEAD names. A bare repository's names its default branch, and
/// nobody works there; one that is only called bare (`core.bare` on a checkout) still has its files around it.
fn main_checkout(repo: &Repository) -> Option<&Path> {
    let around = || repo.common_dir().file_name().filter(|name| *name == ".git").and(repo.common_dir().parent());
    repo.work_dir().or_else(around)
}

fn users(repo: &Repository, refs: &Refs, registrations: &[Registration]) -> Vec<(BString, BranchUser)> {
    let mut users = Vec::new();
    let mut add = |names: &[(BString, &'static str)], id: Option<&BString>, path: &Path| {
        for (name, how) in names {
            // Who is on a symbolic branch is on what it stands for.
            let target = refs.resolve(name.as_bstr()).map(|(target, _)| target).filter(|target| *target != name);
            for name in std::iter::once(name.as_bstr()).chain(target) {
                users.push((name.to_owned(), BranchUser { id: id.cloned(), path: path.to_owned(), how }));
            }
        }
    };
    if let Some(path) = main_checkout(repo) {
        let (names, _) = registration::names(repo.common_dir(), refs);
        add(&names, None, path);
    }
    for registration in registrations {
        let path = registration.path.as_deref().unwrap_or(&registration.git_dir);
        add(&registration.names, Some(&registration.id), path);
    }
    users
}

/// Each registration is one shadow; a branch belongs to the first worktree that has it checked out, else to the first
/// that will come back to it. Further worktrees on it are shadows without a branch.
fn shadows(
    repo: &Repository,
    policy: &Policy,
    leases: &Leases,
    refs: &Refs,
    registrations: &[Registration],
) -> Vec<Shadow> {
    let mut owners: BTreeMap<&BStr, &BStr> = BTreeMap::new();
    for registration in registrations {
        if let Head::Branch(name, _) = &registration.head {
            owners.entry(name.as_bstr()).or_insert(registration.id.as_bstr());
        }
    }
    for registration in registrations {
        for (name, _) in &registration.names {
            owners.entry(name.as_bstr()).or_insert(registration.id.as_bstr());
        }
    }
    let mut taken: BTreeSet<&BStr> = BTreeSet::new();
    let mut shadows = Vec::new();
    for registration in registrations {
        let named = |ours: bool| {
            let mut names = registration.names.iter().map(|(name, _)| name.as_bstr());
            names.find(|name| !ours || policy.is_shadow_branch(name))
        };
        let ours = named(true);
        let foreign = ours.is_none() && !is_claimed(repo, policy, leases, registration);
        let shown = if foreign { named(false) } else { ours };
        let branch = shown
            .filter(|name| owners.get(name) == Some(&registration.id.as_bstr()))
            .filter(|name| taken.insert(name))
            .and_then(|name| branch(refs, name));
        shadows.push(Shadow {
            name: branch.as_ref().map_or(registration.id.as_bstr(), |b| short_name(b.name.as_bstr())).to_owned(),
            foreign,
            branch,
            worktree: Some(registration.clone()),
        });
    }
    for name in refs.heads.keys().filter(|name| !taken.contains(name.as_bstr())) {
        shadows.push(Shadow {
            name: short_name(name.as_bstr()).to_owned(),
            foreign: !policy.is_shadow_branch(name.as_bstr()),
            branch: branch(refs, name.as_bstr()),
            worktree: None,
        });
    }
    shadows.sort_by(|a, b| a.name.cmp(&b.name));
    shadows
}

/// A worktree that is on no branch of ours but registered under a root, named by a lease, or unreadable: it cannot be
/// told that it is not ours.
fn is_claimed(repo: &Repository, policy: &Policy, leases: &Leases, registration: &Registration) -> bool {
    if matches!(registration.head, Head::Broken(_)) || registration.unread.is_some() {
        return true;
    }
    let Some(path) = &registration.path else { return true };
    if policy.is_under_root(path) {
        return true;
    }
    let branch = match &registration.head {
        Head::Branch(name, _) => Some(name.as_bstr()),
        Head::Detached(_) | Head::Broken(_) => None,
    };
    let created = created(registration).ok();
    leases.claims(repo.path(), path, branch, created)
}

fn branch(refs: &Refs, name: &BStr) -> Option<Branch> {
    let tip = match refs.heads.get(name)? {
        Target::Object(tip) => Some(*tip),
        Target::Symbolic(_) | Target::Broken(_) => None,
    };
    Some(Branch { name: name.to_owned(), tip })
}
