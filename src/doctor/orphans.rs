//! Directories that once were worktrees of this repository and that no registration knows: left by a removal that failed
//! or by somebody who pruned. They are told, and never deleted.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::words::aside;
use super::{Found, Scene};
use crate::error::Result;
use crate::inspect::worktree::linked_to;
use crate::journal::Journal;
use crate::lease::session_folders;
use crate::model::{Finding, Trouble, shell};
use crate::sys::{owner, tree};

/// So deep below a root worktrees are looked for: `<sessions>/<id>/projects/<repository>` and a little more.
const DEEP: usize = 5;

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let mut search = Search { scene, seen: BTreeSet::new(), found: Vec::new() };
    for dir in folders(scene) {
        search.below(&dir, 1)?;
    }
    for root in roots(scene) {
        search.below(&root, DEEP)?;
    }
    Ok(search.found.into_iter().map(Found::from).collect())
}

/// Where the repository and its worktrees are.
fn folders(scene: &Scene<'_>) -> BTreeSet<PathBuf> {
    let paths = scene.discovery.registrations.iter().filter_map(|one| one.path.as_deref());
    paths.chain([scene.repo.path()]).filter_map(Path::parent).map(Path::to_owned).collect()
}

/// The session folders, and what stands before the first wildcard of a root.
fn roots(scene: &Scene<'_>) -> BTreeSet<PathBuf> {
    let plain = |root: &String| -> PathBuf {
        let names = root.split('/').take_while(|name| !name.contains(['*', '?', '[', '\\']));
        PathBuf::from(format!("/{}", names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join("/")))
    };
    let roots = scene.policy.roots.iter().map(plain).chain(session_folders());
    roots.filter_map(|root| fs_err::canonicalize(root).ok()).filter(|root| root.parent().is_some()).collect()
}

/// Never a worktree, and costly to walk.
const SKIPPED: &[&str] = &["node_modules", "target"];

struct Search<'a> {
    scene: &'a Scene<'a>,
    seen: BTreeSet<PathBuf>,
    found: Vec<Finding>,
}

impl Search<'_> {
    fn below(&mut self, dir: &Path, deep: usize) -> Result<()> {
        let entries = match fs_err::read_dir(dir).and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>()) {
            Ok(entries) => entries,
            // What is not there has none; what may not be read is somebody else's.
            Err(e)
                if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied) =>
            {
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let is_asked = |entry: &&fs_err::DirEntry| {
            entry.file_type().is_ok_and(|kind| kind.is_dir()) && !SKIPPED.iter().any(|name| entry.file_name() == *name)
        };
        let mut below: Vec<PathBuf> = entries.iter().filter(is_asked).map(fs_err::DirEntry::path).collect();
        below.sort();
        for path in below {
            let is_worktree = self.one(&path, deep > 1)?;
            if !is_worktree && deep > 1 {
                self.below(&path, deep - 1)?;
            }
        }
        Ok(())
    }

    /// Whether it is a checkout of any kind, so that nothing in it is looked at.
    fn one(&mut self, path: &Path, managed: bool) -> Result<bool> {
        let link = path.join(".git");
        let found = match fs_err::symlink_metadata(&link) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if managed && self.seen.insert(path.to_owned()) && self.is_skeleton(path) {
                    let message =
                        format!("'{}' has only empty directories, and no registration knows it", path.display());
                    let remedy = format!("find {} -depth -type d -empty -delete", shell::path(path));
                    self.found.push(Finding::new(Trouble::Orphan, message).remedy(remedy).at(path));
                }
                return Ok(false);
            }
            // Another user's, as there are in every temporary folder.
            Err(_) => return Ok(true),
        };
        if found.is_file() && self.seen.insert(path.to_owned()) && owner::is_own(path) {
            let finding = self.orphan(path, &link, managed)?;
            self.found.extend(finding);
        }
        Ok(true)
    }

    fn orphan(&self, path: &Path, link: &Path, managed: bool) -> Result<Option<Finding>> {
        // Not the `.git` of a worktree, or gone again.
        let Ok(Some(named)) = linked_to(link) else { return Ok(None) };
        let Some(worktrees) = named.parent().filter(|dir| dir.ends_with("worktrees")) else { return Ok(None) };
        let Some(common_dir) = worktrees.parent() else { return Ok(None) };
        let shown = path.display();
        let is_ours = fs_err::canonicalize(common_dir).is_ok_and(|dir| dir == self.scene.repo.common_dir());
        if !is_ours {
            let gone = managed && tree::stat(common_dir)?.is_none();
            let message = format!("'{shown}' was a worktree of '{}', a repository that is gone", common_dir.display());
            let remedy = format!("mv {} {}", shell::path(path), shell::path(&aside(path)));
            return Ok(gone.then(|| Finding::new(Trouble::Orphan, message).remedy(remedy).at(path)));
        }
        if let Some(finding) = self.moved_aside(path, &named)? {
            return Ok(finding);
        }
        if tree::stat(&named)?.is_some() {
            return Ok(None);
        }
        let repository = self.scene.repo.path().display();
        let message = format!("'{shown}' was a worktree of '{repository}', which does not know it any more");
        Ok(Some(Finding::new(Trouble::Orphan, message).remedy(self.register(path)).at(path)))
    }

    /// A registration anew, at the commit of the repository's HEAD, that takes the directory as it is: then git shows
    /// what is in it.
    fn register(&self, path: &Path) -> String {
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(".registered");
        let (fresh, path, git) = (PathBuf::from(fresh), shell::path(path), &self.scene.git);
        format!(
            "{git} worktree add -q --detach --no-checkout {0} && mv {1} {path}/.git && rmdir {0} && \
             {git} worktree repair {path} && git -C {path} reset -q",
            shell::path(&fresh),
            shell::path(&fresh.join(".git")),
        )
    }

    /// `.<name>.shadow-<operation>`: what a release moved aside. One that the journal knows is told by the journal.
    fn moved_aside(&self, path: &Path, named: &Path) -> Result<Option<Option<Finding>>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((before, operation)) = name.strip_prefix('.').and_then(|name| name.rsplit_once(".shadow-")) else {
            return Ok(None);
        };
        if Journal::of(self.scene.repo).survey()?.iter().any(|(id, _)| id == operation) {
            return Ok(Some(None));
        }
        let place = path.with_file_name(before);
        let message =
            format!("'{}' was moved aside by operation {operation}, which is not in the journal", path.display());
        let back = tree::stat(named)?.is_some() && tree::stat(&place)?.is_none();
        let to = if back { place } else { aside(path) };
        let remedy = format!("mv {} {}", shell::path(path), shell::path(&to));
        Ok(Some(Some(Finding::new(Trouble::LeftoverTree, message).remedy(remedy).at(path))))
    }

    /// Empty directories in the place of one of this repository's worktrees: called as it is, and neither a registration
    /// nor a lease names it.
    fn is_skeleton(&self, path: &Path) -> bool {
        let leases = &self.scene.discovery.leases;
        let mut named = leases.all().flat_map(|lease| lease.worktrees.iter().chain(&lease.session_root));
        path.file_name() == self.scene.repo.path().file_name()
            && !self.scene.discovery.registrations.iter().any(|one| one.path.as_deref() == Some(path))
            && !named.any(|place| path.starts_with(place))
            && has_only_directories(path)
    }
}

fn has_only_directories(path: &Path) -> bool {
    let Ok(entries) = fs_err::read_dir(path) else { return false };
    let is_empty = |entry: std::io::Result<fs_err::DirEntry>| {
        entry
            .is_ok_and(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && has_only_directories(&entry.path()))
    };
    entries.into_iter().all(is_empty)
}
