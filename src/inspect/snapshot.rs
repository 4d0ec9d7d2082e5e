//! Every entry of a worktree with the reason why it may go. What has none is an error: nothing unproved is ever moved.

use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};

use super::excludes::Excludes;
use super::files::{self, full, join};
use super::index::{self, Index, Tracked};
use super::status::{self, Checkout};
use super::worktree::Scene;
use super::{ignored, submodule};
use crate::error::{Error, Result};
use crate::model::Registration;
use crate::sys::tree::{self, Class, Entry, Snapshot, Stat};

/// Every entry of a present worktree with why it may go.
///
/// # Errors
/// Names the first entry that nothing proves, that cannot be deleted, or that cannot be read.
pub fn snapshot(scene: Scene<'_>, registration: &Registration) -> Result<Snapshot> {
    let Some(root) = &registration.path else {
        return Err(Error::failed("snapshot", format!("registration '{}' names no worktree", registration.id)));
    };
    let tree = tree::walk(root, |_, _| true)?;
    if let Some(one) = tree.undeletable.first() {
        return Err(Error::failed("undeletable", format!("'{}' {}", one.path, one.why)));
    }
    let checkout = Checkout::of(scene, registration, root);
    let mut classes = vec![None; tree.entries.len()];
    let modules = registration.git_dir.join("modules");
    classify(scene, checkout, BStr::new(""), &modules, &tree.entries, &mut classes)?;
    let entries = tree.entries.into_iter().zip(classes).map(|((path, stat), class)| match class {
        Some(class) => Ok(Entry { path, stat, class }),
        None => Err(Error::failed("unproved", format!("nothing proves that '{path}' may go"))),
    });
    Ok(Snapshot { root: tree.root, entries: entries.collect::<Result<_>>()? })
}

/// Classes of the entries below `prefix`, the root of a checkout. Those of its submodules follow.
fn classify(
    scene: Scene<'_>,
    checkout: Checkout<'_>,
    prefix: &BStr,
    modules: &Path,
    entries: &[(BString, Stat)],
    classes: &mut [Option<Class>],
) -> Result<()> {
    let index = Index::open(checkout.gix, checkout.git_dir)?;
    let is_plain = index::is_plain(checkout.gix, &index)?;
    let mut excludes = if is_plain {
        Excludes::read(checkout.gix, checkout.root)
    } else {
        Excludes::Listed(status::ask(checkout.git_dir, checkout.root, &["--ignored=matching"])?.1)
    };
    let inside = if prefix.is_empty() { BString::default() } else { join(prefix, "".into()) };
    let from = entries.partition_point(|(path, _)| *path < inside);
    // The topmost ignored directory that the walk is in: all in it is ignored, unless it is tracked.
    let (mut ignored_dir, mut submodules) = (None::<BString>, Vec::<BString>::new());
    let mut buffer = Vec::new();
    for (at, (whole, stat)) in entries.iter().enumerate().skip(from) {
        let Some(path) = whole.strip_prefix(inside.as_slice()).map(ByteSlice::as_bstr) else { break };
        let is_below = |dir: &BString| path.strip_prefix(dir.as_slice()).is_some_and(|rest| rest.starts_with(b"/"));
        if submodules.iter().any(is_below) {
            continue;
        }
        let known = index.find(path);
        let link = path == ".git" && stat.is_file();
        let entry = if let Tracked::Entry(at) = known { Some(&index.file.entries()[at]) } else { None };
        if entry.is_some() && stat.is_dir() {
            submodules.push(path.to_owned());
        }
        classes[at] = if link {
            Some(Class::Link)
        } else if stat.is_dir() {
            if !ignored_dir.as_ref().is_some_and(is_below) {
                ignored_dir =
                    (known == Tracked::No && excludes.is_ignored(&index, path, true)?).then(|| path.to_owned());
            }
            Some(Class::Directory)
        } else if let Some(entry) = entry {
            // Elsewhere every file was compared with what checkout would write.
            let same = !is_plain || files::is_blob(&full(checkout.root, path)?, stat, entry.id, &mut buffer)?;
            same.then_some(Class::Tracked)
        } else {
            let ignored = ignored_dir.as_ref().is_some_and(is_below) || excludes.is_ignored(&index, path, false)?;
            unversioned(scene, checkout.root, path, stat, ignored)?
        };
    }
    for path in submodules {
        let (whole, at) = (join(prefix, path.as_ref()), full(checkout.root, path.as_ref())?);
        let Some(git_dir) = submodule::git_dir(&at, modules)? else { continue };
        let gix = gix::open(&git_dir).map_err(|e| Error::failed("submodule", format!("'{whole}': {e}")))?;
        let checkout = Checkout { gix: &gix, git_dir: &git_dir, root: &at, head: None };
        classify(scene, checkout, whole.as_ref(), modules, entries, classes)?;
    }
    Ok(())
}

/// The class of what is not tracked.
fn unversioned(scene: Scene<'_>, root: &Path, path: &BStr, stat: &Stat, is_ignored: bool) -> Result<Option<Class>> {
    let no_bytes = !stat.is_file() && !stat.is_link();
    let small = stat.is_file() && stat.size <= ignored::SAVED_AT_MOST;
    Ok(if no_bytes {
        Some(Class::Disposable)
    } else if !is_ignored {
        (small && scene.policy.saves_untracked(path)).then_some(Class::Saved)
    } else if ignored::is_disposable(scene, path, stat.kind()) {
        Some(Class::Disposable)
    } else if ignored::is_saved(scene, path, stat) {
        Some(Class::Saved)
    } else {
        ignored::is_in_canonical_checkout(scene, root, path, stat)?.then_some(Class::Disposable)
    })
}
