//! What is staged in an index beyond the tree of HEAD: in a purged worktree the only copy of staged work.

use std::cmp::Ordering;
use std::path::Path;

use gix::bstr::{BString, ByteSlice as _};
use gix::index::entry::Flags;

use super::files;
use super::worktree::Scene;
use crate::error::{Error, Result, chain};
use crate::model::{Head, Registration};

/// Paths whose entry in the registration's index differs from HEAD; conflicts and intent-to-add count.
///
/// # Errors
/// When index, HEAD or a tree cannot be read.
pub fn staged(scene: Scene<'_>, registration: &Registration) -> Result<Vec<BString>> {
    let path = registration.git_dir.join("index");
    if !files::exists(&path)? {
        return Ok(Vec::new());
    }
    let index = open(scene.gix, &path)?;
    if index.is_sparse() {
        return by_git(scene, registration);
    }
    differences(scene.gix, &index, &registration.head)
}

/// Read an index.
///
/// # Errors
/// When it is damaged or absent.
pub(super) fn open(gix: &gix::Repository, path: &Path) -> Result<gix::index::File> {
    gix::index::File::at(path, gix.object_hash(), false, gix::index::decode::Options::default())
        .map_err(|e| Error::failed("index", format!("cannot read '{}': {}", path.display(), chain(&e))))
}

/// Paths in which the index differs from the tree of HEAD.
///
/// # Errors
/// When HEAD or a tree cannot be read.
pub(super) fn differences(gix: &gix::Repository, index: &gix::index::File, head: &Head) -> Result<Vec<BString>> {
    let unmerged = |e: &gix::index::Entry| e.stage_raw() != 0 || e.flags.contains(Flags::INTENT_TO_ADD);
    let mut paths: Vec<BString> =
        index.entries().iter().filter(|e| unmerged(e)).map(|e| e.path(index).to_owned()).collect();
    let tree = match head {
        Head::Broken(error) => return Err(Error::failed("head", error.clone())),
        Head::Branch(_, None) => None,
        Head::Branch(_, Some(id)) | Head::Detached(id) => {
            let commit = gix.find_commit(*id).map_err(|e| Error::failed("object", chain(&e)))?;
            Some(commit.tree_id().map_err(|e| Error::failed("object", chain(&e)))?.detach())
        }
    };
    // git keeps the ids of unchanged trees in the index: the root's is all that has to be compared.
    let cached = index.tree().filter(|root| root.num_entries.is_some()).map(|root| root.id);
    if paths.is_empty() && cached.is_some() && cached == tree {
        return Ok(paths);
    }
    let (mut want, empty);
    let want = match tree {
        Some(tree) => {
            want = gix.index_from_tree(&tree).map_err(|e| Error::failed("tree", chain(&e)))?;
            &mut want
        }
        None => {
            empty = gix::index::State::new(gix.object_hash());
            want = gix::index::File::from_state(empty, "");
            &mut want
        }
    };
    let mut wanted = want.entries().iter().peekable();
    let mut had = index.entries().iter().peekable();
    loop {
        let order = match (wanted.peek(), had.peek()) {
            (Some(a), Some(b)) => a.path(want).cmp(b.path(index)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        let (a, b) = (if order.is_le() { wanted.next() } else { None }, if order.is_ge() { had.next() } else { None });
        if a.map(|e| (e.id, e.mode)) != b.map(|e| (e.id, e.mode)) {
            paths.extend(a.map(|e| e.path(want)).or(b.map(|e| e.path(index))).map(ToOwned::to_owned));
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// gix does not expand a sparse index. Nothing of the worktree is looked at, so any directory does for it.
fn by_git(scene: Scene<'_>, registration: &Registration) -> Result<Vec<BString>> {
    let git = crate::git::Git::new(scene.repo.common_dir(), ["diff", "--cached", "--name-only", "--no-renames", "-z"]);
    let listed = git.worktree(&registration.git_dir, scene.repo.common_dir()).run()?;
    Ok(listed.split(|b| *b == 0).filter(|p| !p.is_empty()).map(|p| p.as_bstr().to_owned()).collect())
}
