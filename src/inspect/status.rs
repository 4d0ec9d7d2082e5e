//! Whether a worktree is clean. git is the authority; where file and blob are the same bytes, a reading in the process
//! speaks for it (and git is asked all the same before anything moves). Elsewhere whatever either sees holds.

use std::collections::HashSet;
use std::path::Path;

use gix::bstr::{BString, ByteSlice as _};

use super::excludes::Excludes;
use super::files::{full, stat_below};
use super::index::{self, Index};
use super::staged;
use super::walk::{Found, walk};
use super::worktree::Scene;
use crate::error::{Error, Result};
use crate::git::{Git, Repository};
use crate::model::{Head, Registration, Status};
use crate::sys::tree::Stat;

/// A checkout as it was read: index, files and status.
pub(super) struct Reading {
    pub(super) index: Index,
    pub(super) found: Found,
    pub(super) status: Result<Status>,
    /// Files and blobs are the same bytes: status has compared all there is to compare.
    pub(super) plain: bool,
}

/// A checkout: a worktree or a submodule.
#[derive(Clone, Copy)]
pub(super) struct Checkout<'a> {
    pub(super) gix: &'a gix::Repository,
    pub(super) git_dir: &'a Path,
    pub(super) root: &'a Path,
    pub(super) head: Option<&'a Head>,
}

impl<'a> Checkout<'a> {
    /// The worktree of a registration.
    pub(super) fn of(scene: Scene<'a>, registration: &'a Registration, root: &'a Path) -> Checkout<'a> {
        Checkout { gix: scene.gix, git_dir: &registration.git_dir, root, head: Some(&registration.head) }
    }
}

/// Read a checkout.
///
/// # Errors
/// When its index or a directory cannot be read.
pub(super) fn read(checkout: Checkout<'_>) -> Result<Reading> {
    let index = Index::open(checkout.gix, checkout.git_dir)?;
    if let Some(head) = checkout.head
        && index::is_plain(checkout.gix, &index)?
    {
        let mut excludes = Excludes::read(checkout.gix, checkout.root);
        let found = walk(checkout.root, &index, &mut excludes, true)?;
        if !found.attributes {
            let status = plain(checkout, &index, head, &found);
            return Ok(Reading { index, found, status, plain: true });
        }
    }
    let listed = ask(checkout.git_dir, checkout.root, &["--ignored=matching"]);
    let (status, mut excludes) = match listed {
        Ok((status, ignored)) => (Ok(status), Excludes::Listed(ignored)),
        // Without git's word the rest is still worth knowing.
        Err(error) => (Err(error), Excludes::read(checkout.gix, checkout.root)),
    };
    let found = walk(checkout.root, &index, &mut excludes, false)?;
    let status = status.map(|status| unite(status, &[], &found.untracked));
    let status = status.map(|status| with_line_endings(checkout, &index, status));
    Ok(Reading { index, found, status, plain: false })
}

/// Where files and blobs are the same bytes, what the walk and the index say is what git would.
fn plain(checkout: Checkout<'_>, index: &Index, head: &Head, found: &Found) -> Result<Status> {
    let mut changed = staged::differences(checkout.gix, &index.file, head)?;
    changed.extend_from_slice(&found.changed);
    let status = unite(Status::default(), &changed, &found.untracked);
    Ok(with_line_endings(checkout, index, status))
}

fn unite(mut status: Status, changed: &[BString], untracked: &[BString]) -> Status {
    for (paths, more) in [(&mut status.tracked, changed), (&mut status.untracked, untracked)] {
        paths.extend_from_slice(more);
        paths.sort();
        paths.dedup();
    }
    status
}

/// Ask git itself whether the worktree is clean: the gate before anything moves.
///
/// # Errors
/// When git cannot say.
pub fn git_status(_repo: &Repository, registration: &Registration) -> Result<Status> {
    let Some(root) = &registration.path else {
        return Err(Error::failed("status", format!("registration '{}' names no worktree", registration.id)));
    };
    Ok(ask(&registration.git_dir, root, &[])?.0)
}

/// Status and ignored paths (directories with a slash), with all settings that hide changes overridden.
///
/// # Errors
/// When git cannot say.
pub(super) fn ask(git_dir: &Path, root: &Path, more: &[&str]) -> Result<(Status, HashSet<BString>)> {
    let settings =
        ["core.fsmonitor=false", "core.trustctime=true", "core.checkStat=default", "status.showUntrackedFiles=all"];
    let mut args: Vec<&str> = settings.iter().flat_map(|setting| ["-c", setting]).collect();
    args.extend(["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=none"]);
    args.extend(more);
    let answer = Git::new(git_dir, args).worktree(git_dir, root).run()?;
    parse(&answer).ok_or_else(|| Error::failed("status", "git status answers in an unknown form"))
}

/// Records of `status --porcelain=v2 -z`; `None` for one that is not known.
fn parse(answer: &[u8]) -> Option<(Status, HashSet<BString>)> {
    let (mut status, mut ignored) = (Status::default(), HashSet::new());
    let mut records = answer.split(|b| *b == 0).filter(|r| !r.is_empty());
    while let Some(record) = records.next() {
        // How many fields stand before the path.
        let fields = match record[0] {
            b'1' => 8,
            b'2' => 9,
            b'u' => 10,
            b'?' | b'!' => 1,
            _ => return None,
        };
        let path = BString::from(record.splitn(fields + 1, |b| *b == b' ').nth(fields)?);
        match record[0] {
            b'?' => status.untracked.push(path),
            b'!' => {
                ignored.insert(path);
            }
            b'2' => status.tracked.extend([path, records.next()?.into()]),
            _ => status.tracked.push(path),
        }
    }
    Some((status, ignored))
}

/// More changed files than this are not a matter of line endings alone, or nobody needs to be told.
const FEW: usize = 64;

/// Larger files are not read for a hint.
const SMALL: u64 = 1 << 20;

/// Tell whether nothing but line endings differs, so that the remedy can be the right one.
fn with_line_endings(checkout: Checkout<'_>, index: &Index, mut status: Status) -> Status {
    let differs_so = |path: &BString| {
        let at = index.file.entry_index_by_path(path.as_ref()).ok()?;
        let blob = checkout.gix.find_blob(index.file.entries()[at].id).ok()?;
        // Reading a pipe would never end.
        let small = |found: &Stat| found.is_file() && found.size <= SMALL;
        stat_below(checkout.root, path.as_ref()).ok()?.filter(small)?;
        let file = fs_err::read(full(checkout.root, path.as_ref()).ok()?).ok()?;
        (file.replace("\r\n", "\n") == blob.data.replace("\r\n", "\n")).then_some(())
    };
    let few = !status.tracked.is_empty() && status.tracked.len() <= FEW;
    let unstaged = |head| staged::differences(checkout.gix, &index.file, head).is_ok_and(|paths| paths.is_empty());
    status.only_line_endings =
        few && status.tracked.iter().all(|path| differs_so(path).is_some()) && checkout.head.is_some_and(unstaged);
    status
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn every_record_counts() {
        let zero = "0000000000000000000000000000000000000000";
        let answer = format!(
            "1 .M N... 100644 100644 100644 {zero} {zero} a b\0\
             2 R. N... 100644 100644 100644 {zero} {zero} R100 new name\0old name\0\
             u UU N... 100644 100644 100644 100644 {zero} {zero} {zero} c d\0? u v\0! i/\0"
        );
        let (status, ignored) = parse(answer.as_bytes()).unwrap_or_default();
        assert_eq!(status.tracked, ["a b", "new name", "old name", "c d"]);
        assert_eq!(status.untracked, ["u v"]);
        assert!(ignored.contains("i/".as_bytes()) && ignored.len() == 1);
    }

    #[test]
    fn an_unknown_record_is_no_clean_answer() {
        assert!(parse(b"x\0").is_none());
        assert!(parse(b"1 .M N...\0").is_none());
        assert!(parse(b"2 R. N... 1 1 1 0 0 R100 new\0").is_none(), "the old name is missing");
    }
}
