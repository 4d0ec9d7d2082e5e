//! What the shadows' worktrees take on the disk.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::Context;
use crate::error::{Error, Result};
use crate::model::{Disk, Disks, Fact, Half, Place, Verdict};
use crate::report::{RepositoryReport, ShadowReport};
use crate::sys::threads;
use crate::sys::tree::{Usage, usage};

/// A worktree that was measured: of which repository, and whether it is to be released.
struct Measured {
    repository: usize,
    release: bool,
    path: PathBuf,
    usage: Usage,
}

/// Measure all that are there, several at a time. Each gets what it takes by itself; what has names in several worktrees
/// is counted once in the sums. What could not be read is told with the repository.
pub fn measure(context: &Context<'_>, repositories: &mut [RepositoryReport]) -> Disks {
    let asked: Vec<(usize, usize, PathBuf)> = repositories.iter().enumerate().flat_map(present).collect();
    let progress = context.ui.progress("measuring worktrees", asked.len());
    let usages = threads::map(threads::available(), &asked, |(_, _, path)| {
        let usage = usage(path);
        progress.step();
        usage
    });
    let mut measured = Vec::new();
    let mut lost = HashSet::new();
    for ((repository, shadow, path), usage) in asked.into_iter().zip(usages) {
        let Some(report) = repositories.get_mut(repository) else { continue };
        for error in incomplete(&path, &usage) {
            lost.insert(repository);
            report.errors.push(error);
        }
        let Ok(usage) = usage else { continue };
        if let Some(shadow) = report.shadows.get_mut(shadow) {
            let release = shadow.judgement.worktree == Some(Half::Release);
            shadow.disk = Some(sum([&usage], usage.unread.is_empty()));
            measured.push(Measured { repository, release, path, usage });
        }
    }
    let counted = outermost(&measured);
    let of = |wanted: &dyn Fn(&Measured) -> bool, complete| {
        sum(counted.iter().filter(|one| wanted(one)).map(|one| &one.usage), complete)
    };
    let all = lost.is_empty();
    Disks {
        all: of(&|_| true, all),
        release: of(&|one| one.release, all),
        repositories: (0..repositories.len()).map(|n| of(&|one| one.repository == n, !lost.contains(&n))).collect(),
    }
}

fn present((number, repository): (usize, &RepositoryReport)) -> Vec<(usize, usize, PathBuf)> {
    let ours = |shadow: &ShadowReport| {
        let evidence = &shadow.judgement.evidence;
        let there = matches!(evidence.worktree.as_ref()?.place, Fact::Known(Place::Present | Place::NotOurs(_)));
        let path = evidence.shadow.worktree.as_ref()?.path.clone()?;
        (there && shadow.judgement.verdict != Verdict::Foreign).then_some(path)
    };
    let shadows = repository.shadows.iter().enumerate();
    shadows.filter_map(|(n, shadow)| Some((number, n, ours(shadow)?))).collect()
}

/// Why a number is too small.
fn incomplete(path: &Path, usage: &Result<Usage>) -> Vec<Error> {
    let error =
        |why: &str| Error::failed("disk", format!("'{}' was not measured whole: {why}", path.display())).at(path);
    match usage {
        Ok(usage) => usage.unread.iter().map(|why| error(why)).collect(),
        Err(why) => vec![error(&why.message)],
    }
}

/// Without those that lie in others and were counted with them.
fn outermost(measured: &[Measured]) -> Vec<&Measured> {
    let paths: HashSet<(&Path, u64)> = measured.iter().map(|one| (one.path.as_path(), one.usage.device)).collect();
    let mut taken = HashSet::new();
    let inside = |one: &Measured| {
        let mut above = one.path.ancestors().skip(1);
        above.any(|above| paths.contains(&(above, one.usage.device)))
    };
    measured.iter().filter(|one| !inside(one) && taken.insert(&one.path)).collect()
}

fn sum<'a>(usages: impl IntoIterator<Item = &'a Usage>, complete: bool) -> Disk {
    let mut linked = HashSet::new();
    let mut bytes = 0;
    for usage in usages {
        bytes += usage.bytes;
        let fresh = usage.linked.iter().filter(|(device, inode, _)| linked.insert((*device, *inode)));
        bytes += fresh.map(|(_, _, allocated)| allocated).sum::<u64>();
    }
    Disk { bytes, complete }
}
