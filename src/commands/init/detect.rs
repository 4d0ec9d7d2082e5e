//! What in a repository looks like sessions'. It only proposes: a pattern that takes in a person's own branches must be
//! that person's decision.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, ByteSlice as _};

use crate::discover;
use crate::error::Result;
use crate::git::refs::Refs;
use crate::git::{Repository, bases};
use crate::inspect::protect::Protection;
use crate::model::{Registration, short_name};
use crate::policy::{Policy, Proposal};

/// Fewer branches of a kind than this, with no worktree, are no sign of sessions.
const FEW: usize = 2;

/// Patterns (with how much falls under those that hold already) and new roots, the largest first.
pub(super) fn proposals(repo: &Repository, policy: &Policy) -> Result<Vec<Proposal>> {
    let gix = repo.local();
    let refs = Refs::read(&gix)?;
    let registrations = discover::registrations(repo, &refs)?;
    let resolved = bases::resolve(repo, policy);
    let protection = Protection::read(repo, policy, resolved.known().map_or(&[], Vec::as_slice));
    let free = |name: &BStr| protection.of(policy, name).is_none();
    let names: Vec<&BStr> = refs.heads.keys().map(|name| name.as_bstr()).filter(|name| free(name)).collect();
    let mut proposals = branches(&names, &registrations);
    let paths: Vec<&Path> = registrations.iter().filter_map(|registration| registration.path.as_deref()).collect();
    proposals.extend(roots(&paths, repo, policy));
    Ok(proposals)
}

/// Branches by their first level; those without levels by what stands before a hyphen, if a worktree has one.
fn branches(names: &[&BStr], registrations: &[Registration]) -> Vec<Proposal> {
    let with_worktree: BTreeSet<&BStr> = registrations
        .iter()
        .flat_map(|registration| registration.names.iter().map(|(name, _)| name.as_bstr()))
        .collect();
    let mut groups: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for name in names {
        if let Some(pattern) = pattern_of(short_name(name)) {
            let (branches, worktrees) = groups.entry(pattern).or_default();
            *branches += 1;
            *worktrees += usize::from(with_worktree.contains(name));
        }
    }
    groups.retain(|pattern, (branches, worktrees)| *worktrees > 0 || (*branches >= FEW && pattern.ends_with("/**")));
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (branches, worktrees))| std::cmp::Reverse((*worktrees, *branches)));
    let propose = |(value, (branches, worktrees)): (String, (usize, usize))| Proposal {
        key: "shadows.branches",
        value,
        found: format!("{}, {}", count(branches, "branch", "branches"), with(worktrees)),
    };
    groups.into_iter().map(propose).collect()
}

fn pattern_of(short: &BStr) -> Option<String> {
    let (before, end) = match short.split_once_str(b"/") {
        Some((first, _)) => (first, "/**"),
        None => (short.split_once_str(b"-")?.0, "-*"),
    };
    // A name that is not UTF-8 cannot be written in a file; one with wildcards would mean something else.
    let before = before.to_str().ok().filter(|name| !name.is_empty() && !name.contains(['*', '?', '[', '\\']))?;
    Some(format!("{before}{end}"))
}

/// Folders with several worktrees, or with several folders of one each. Not the one that the repository itself is in:
/// people keep their own worktrees beside it.
fn roots(paths: &[&Path], repo: &Repository, policy: &Policy) -> Vec<Proposal> {
    let beside = repo.path().parent();
    let new = |path: &&&Path| !policy.is_under_root(path);
    let mut alone: Vec<PathBuf> = Vec::new();
    let mut found: Vec<(String, usize)> = Vec::new();
    for (folder, worktrees) in by_parent(paths.iter().filter(new).map(|path| path.to_path_buf())) {
        match worktrees {
            _ if Some(folder.as_path()) == beside => {}
            1 => alone.push(folder),
            _ => found.extend(folder.to_str().map(|folder| (folder.to_owned(), worktrees))),
        }
    }
    for (folder, worktrees) in by_parent(alone.into_iter()) {
        let plain = worktrees >= FEW && Some(folder.as_path()) != beside;
        found.extend(folder.to_str().filter(|_| plain).map(|folder| (format!("{folder}/*"), worktrees)));
    }
    found.retain(|(root, _)| root.trim_matches(['/', '*']).contains('/') && !root.contains(['?', '[', '\\']));
    found.sort_by_key(|(_, worktrees)| std::cmp::Reverse(*worktrees));
    let propose = |(value, worktrees)| Proposal { key: "shadows.roots", value, found: with(worktrees) };
    found.into_iter().map(propose).collect()
}

fn by_parent(paths: impl Iterator<Item = PathBuf>) -> BTreeMap<PathBuf, usize> {
    let mut parents = BTreeMap::new();
    for parent in paths.filter_map(|path| path.parent().map(Path::to_owned)) {
        *parents.entry(parent).or_default() += 1;
    }
    parents
}

fn with(worktrees: usize) -> String {
    count(worktrees, "worktree", "worktrees")
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
