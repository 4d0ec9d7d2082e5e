//! Facts about session roots: the folders around the worktrees of a lease.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use gix::bstr::{BString, ByteSlice as _};

use super::Host;
use crate::discover::registered_paths;
use crate::error::Result;
use crate::lease::session_folders;
use crate::model::{Fact, Lease, SessionRootFacts};
use crate::sys::{owner, tree};

/// Every session root that a lease names and that is there, sorted by path. What is at one of the paths of `going`
/// counts as gone: a dry run asks what is left then. A root that vanished meanwhile is no error.
pub fn session_roots(host: &Host, going: &HashSet<PathBuf>) -> Vec<SessionRootFacts> {
    let mut leases: BTreeMap<PathBuf, Lease> = BTreeMap::new();
    for lease in host.leases.all() {
        let Some(root) = lease.session_root.as_deref().filter(|root| !matches!(tree::stat(root), Ok(None))) else {
            continue;
        };
        let known = leases.entry(root.to_owned()).or_insert_with(|| lease.clone());
        let all = |ours: &[PathBuf], theirs: &[PathBuf]| {
            let mut all = [ours, theirs].concat();
            all.sort();
            all.dedup();
            all
        };
        let worktrees = all(&known.worktrees, &lease.worktrees);
        let repositories = all(&known.repositories, &lease.repositories);
        if lease.rank() < known.rank() {
            *known = lease.clone();
        }
        known.worktrees = worktrees;
        known.repositories = repositories;
    }
    leases.iter().map(|(root, lease)| look(host, lease, root, going)).collect()
}

fn look(host: &Host, lease: &Lease, root: &Path, going: &HashSet<PathBuf>) -> SessionRootFacts {
    let misplaced = match host.leases.unclear_about(root) {
        Some(error) => Fact::Unknown(error),
        None => misplaced(root, &lease.id).into(),
    };
    let mut facts = SessionRootFacts {
        path: root.to_owned(),
        lease: lease.clone(),
        worktrees: still_there(lease, root, going).into(),
        contents: Fact::NotAsked,
        undeletable: Fact::NotAsked,
        in_use: Fact::NotAsked,
        misplaced,
    };
    // What is not where sessions are is not even looked into, and what is held already need not be.
    if facts.misplaced != Fact::Known(None) || facts.worktrees != Fact::Known(Vec::new()) {
        return facts;
    }
    match tree::walk(root, |path, _| !is_going(&root.join(path.to_path_lossy()), going)) {
        Ok(tree) => {
            let holds = |(path, stat): (BString, tree::Stat)| {
                let harmless = stat.is_dir() || stat.is_link() || is_going(&root.join(path.to_path_lossy()), going);
                (!harmless).then_some(path)
            };
            facts.contents = Fact::Known(tree.entries.into_iter().filter_map(holds).collect());
            facts.undeletable = Fact::Known(tree.undeletable);
        }
        Err(error) => facts.contents = Fact::Unknown(error.to_string()),
    }
    let inside = host.processes.clone_map(|processes| processes.inside(&[root.to_owned()]).concat());
    facts.in_use = inside;
    facts
}

fn is_going(path: &Path, going: &HashSet<PathBuf>) -> bool {
    going.iter().any(|gone| path.starts_with(gone))
}

/// Why a root is not where it may be deleted: directly in a folder of sessions that is this user's and that others cannot
/// write, under its session's id, its name free of links and `..`.
fn misplaced(root: &Path, id: &str) -> Result<Option<String>> {
    let told = |why: &str| Ok(Some(format!("'{}' {why}", root.display())));
    if !root.is_absolute() || root.components().any(|part| matches!(part, Component::ParentDir)) {
        return told("is no plain absolute path");
    }
    let Some((folder, name)) = root.parent().zip(root.file_name()) else { return told("has no name") };
    if name != id || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return told("is not called after its session");
    }
    let resolved = fs_err::canonicalize(folder)?;
    let is_folder = |known: &PathBuf| fs_err::canonicalize(known).is_ok_and(|known| known == resolved);
    if !session_folders().iter().any(is_folder) {
        return told("is not directly in a folder of sessions");
    }
    for place in [resolved.as_path(), root] {
        let found = fs_err::symlink_metadata(place)?;
        if !found.is_dir() {
            return Ok(Some(format!("'{}' is no directory", place.display())));
        }
        if !owner::is_private(&found) {
            return Ok(Some(format!("'{}' is another user's, or others can write it", place.display())));
        }
    }
    Ok(None)
}

/// A path that cannot be looked at may be there. One that is gone counts as long as a repository has it registered: its
/// directory is gone for good only while the one around it is there to show that.
fn still_there(lease: &Lease, root: &Path, going: &HashSet<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for path in &lease.worktrees {
        if tree::stat(path)?.is_some() {
            left.push(path.clone());
        }
    }
    let resolved = fs_err::canonicalize(root)?;
    for repository in &lease.repositories {
        let inner = repository.join(".git");
        let registered = registered_paths(if inner.is_dir() { &inner } else { repository })?;
        left.extend(registered.into_iter().filter(|path| path.starts_with(root) || path.starts_with(&resolved)));
    }
    left.retain(|path| !is_going(path, going));
    left.sort();
    left.dedup();
    Ok(left)
}
