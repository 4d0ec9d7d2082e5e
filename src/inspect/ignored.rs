//! Ignored files that cannot be rebuilt: git deletes them without a word, and they may be the only copy of something.

use std::io::Read as _;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice as _};

use super::files::{self, Kind, full, join, stat_below};
use super::walk::{Ignored, above, is_repository, last};
use super::worktree::Scene;
use crate::error::Result;
use crate::model::Undeletable;
use crate::policy::Disposable;
use crate::sys::tree::{self, Stat, stat};

/// What is ignored, sorted by what it is worth.
#[derive(Debug, Default)]
pub(super) struct Worth {
    /// Cannot be rebuilt; a directory (with a slash) when something in it cannot.
    pub(super) held: Vec<BString>,
    /// Repositories among it.
    pub(super) repositories: Vec<BString>,
    /// Directories that can be rebuilt, not looked into.
    pub(super) rebuildable: Vec<BString>,
}

/// Judge ignored paths without entering the directories that can be rebuilt.
///
/// # Errors
/// When something cannot be read.
pub(super) fn shallow(scene: Scene<'_>, root: &Path, ignored: &[Ignored]) -> Result<Worth> {
    let mut worth = Worth::default();
    for Ignored { path, is_dir } in ignored {
        if *is_dir {
            directory(scene, root, path.clone(), &mut worth)?;
        } else if !is_safe(scene, root, path.as_ref())? {
            worth.held.push(path.clone());
        }
    }
    Ok(worth)
}

fn directory(scene: Scene<'_>, root: &Path, path: BString, worth: &mut Worth) -> Result<()> {
    let dir = full(root, path.as_ref())?;
    if is_repository(&dir)? {
        worth.repositories.push(path);
    } else if scene.policy.disposable(path.as_ref(), true) == Disposable::Rebuildable {
        worth.rebuildable.push(path);
    } else if !holds_only_safe(scene, root, &dir, path.as_ref(), worth)? {
        worth.held.push(join(path.as_ref(), "".into()));
    }
    Ok(())
}

/// Whether nothing in an ignored directory is the only copy of anything; it stops at the first that may be.
fn holds_only_safe(scene: Scene<'_>, root: &Path, dir: &Path, path: &BStr, worth: &mut Worth) -> Result<bool> {
    for (name, kind) in files::list(dir)? {
        let (there, below) = (full(dir, name.as_ref())?, join(path, name.as_ref()));
        if kind != Kind::Directory {
            if !is_safe(scene, root, below.as_ref())? {
                return Ok(false);
            }
        } else if is_repository(&there)? {
            worth.repositories.push(below);
        } else if scene.policy.disposable(below.as_ref(), true) == Disposable::Rebuildable {
            worth.rebuildable.push(below);
        } else if !holds_only_safe(scene, root, &there, below.as_ref(), worth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Look into ignored directories for what cannot be deleted, and into those of them that can be rebuilt for what cannot:
/// secrets, databases, repositories.
///
/// # Errors
/// When something cannot be read.
pub(super) fn deep(
    scene: Scene<'_>,
    root: &Path,
    ignored: &[Ignored],
    rebuildable: &[BString],
) -> Result<(Worth, Vec<Undeletable>)> {
    let (mut worth, mut undeletable) = (Worth::default(), Vec::new());
    for directory in ignored.iter().filter(|one| one.is_dir) {
        let directory = directory.path.as_bstr();
        let whole = rebuildable.iter().any(|one| *one == directory);
        let (mut heads, mut doubtful) = (Vec::new(), Vec::new());
        let mut path = join(directory, "".into());
        let length = path.len();
        let fixed = tree::skim(&full(root, directory)?, |below, kind| {
            path.truncate(length);
            path.extend_from_slice(below);
            let path = path.as_bstr();
            let in_rebuildable = |one: &BString| path.strip_prefix(one.as_slice()).is_some_and(|p| p.starts_with(b"/"));
            if !whole && !rebuildable.iter().any(in_rebuildable) {
                return;
            }
            let name = last(path);
            if name == ".git" || name == "HEAD" {
                heads.push(above(path).unwrap_or_default().to_owned());
            }
            if name != ".git" && kind != Kind::Directory && !is_disposable(scene, path, kind) {
                doubtful.push(path.to_owned());
            }
        })?;
        undeletable
            .extend(fixed.into_iter().map(|one| Undeletable { path: join(directory, one.path.as_ref()), ..one }));
        for head in heads {
            if is_repository(&full(root, head.as_ref())?)? {
                worth.repositories.push(head);
            }
        }
        for path in doubtful {
            if !is_safe(scene, root, path.as_ref())? {
                worth.held.push(path);
            }
        }
    }
    worth.repositories.dedup();
    Ok((worth, undeletable))
}

/// Whether an ignored file or link can be rebuilt, or is elsewhere too.
///
/// # Errors
/// When that cannot be told.
pub(super) fn is_safe(scene: Scene<'_>, root: &Path, path: &BStr) -> Result<bool> {
    let Some(found) = stat(&full(root, path)?)? else { return Ok(true) };
    Ok(is_disposable(scene, path, found.kind())
        || is_saved(scene, path, &found)
        || is_in_canonical_checkout(scene, root, path, &found)?)
}

/// Whether an ignored entry can be rebuilt. A link that is called like a directory stands for one; sockets, pipes and
/// directories hold no bytes.
pub(super) fn is_disposable(scene: Scene<'_>, path: &BStr, kind: Kind) -> bool {
    let rebuildable = |is_dir| scene.policy.disposable(path, is_dir) == Disposable::Rebuildable;
    match kind {
        Kind::Directory | Kind::Other => true,
        Kind::File => rebuildable(false),
        Kind::Link => rebuildable(false) || rebuildable(true),
    }
}

/// Small files that policy has saved with the operation.
pub(super) const SAVED_AT_MOST: u64 = 1 << 20;

/// Whether policy saves this ignored file.
pub(super) fn is_saved(scene: Scene<'_>, path: &BStr, stat: &Stat) -> bool {
    stat.is_file() && stat.size <= SAVED_AT_MOST && scene.policy.saves_ignored(path)
}

/// Whether policy saves this untracked file, which then does not hold.
pub(super) fn is_saved_untracked(scene: Scene<'_>, root: &Path, path: &BStr) -> bool {
    let found = stat_below(root, path).ok().flatten();
    found.is_some_and(|stat| stat.is_file() && stat.size <= SAVED_AT_MOST) && scene.policy.saves_untracked(path)
}

/// Whether a regular file of the same bytes is at the same path of the canonical checkout, no link followed, and not the
/// same file by another name.
///
/// # Errors
/// When either cannot be read.
pub(super) fn is_in_canonical_checkout(scene: Scene<'_>, root: &Path, path: &BStr, ours: &Stat) -> Result<bool> {
    let Some(canonical) = scene.repo.work_dir() else { return Ok(false) };
    let Some(theirs) = stat_below(canonical, path)? else { return Ok(false) };
    let alike = ours.is_file() && theirs.is_file() && ours.size == theirs.size;
    let another = (ours.dev, ours.ino) != (theirs.dev, theirs.ino);
    Ok(alike && another && same_bytes(&full(root, path)?, &full(canonical, path)?)?)
}

fn same_bytes(one: &Path, other: &Path) -> Result<bool> {
    const CHUNK: u64 = 256 << 10;
    let (mut one, mut other) = (fs_err::File::open(one)?, fs_err::File::open(other)?);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    loop {
        a.clear();
        b.clear();
        let read = one.by_ref().take(CHUNK).read_to_end(&mut a)?;
        other.by_ref().take(CHUNK).read_to_end(&mut b)?;
        if a != b {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}
