//! One command over many repositories: finding them, and going on when one fails.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Context, Options, survey, sweep};
use crate::error::{Error, Exit, Result};
use crate::git::Repository;
use crate::inspect::{Depth, Host};
use crate::judge::Terms;
use crate::lease::Leases;
use crate::model::{Shadow, Timestamp};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::report::RepositoryReport;
use crate::sys::{self, process::Processes};

/// Never the home of a canonical repository, and costly to walk.
const SKIPPED: &[&str] = &["node_modules", "target"];

/// A place where a repository was asked for, and the repository or why there is none.
pub type Found = (PathBuf, Result<Repository>);

/// The repositories that the options mean: those named, those below a directory, else the one here. Sorted by path,
/// each once however often it is named.
pub fn repositories(options: &Options, dir: &Path) -> Vec<Found> {
    let mut places: Vec<PathBuf> = options.repo.iter().map(|given| resolved(dir, given)).collect();
    let mut failed = Vec::new();
    for root in &options.under {
        walk(&resolved(dir, root), true, &mut places, &mut failed);
    }
    if options.repo.is_empty() && options.under.is_empty() {
        places.push(dir.to_owned());
    }
    let mut seen = HashSet::new();
    let opened = sys::threads::map(sys::threads::available(), &places, |place| {
        let repository = Repository::discover(place);
        (repository.as_ref().map_or_else(|_| place.clone(), |repo| repo.path().to_owned()), repository)
    });
    let mut found: Vec<Found> = opened
        .into_iter()
        .filter(|(_, repo)| repo.as_ref().map_or(true, |repo| seen.insert(repo.common_dir().to_owned())))
        .chain(failed.into_iter().map(|(place, error)| (place, Err(error))))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// With links resolved, where it exists.
fn resolved(dir: &Path, given: &Path) -> PathBuf {
    let path = dir.join(given);
    fs_err::canonicalize(&path).unwrap_or(path)
}

/// What changes something goes one by one: a child that another thread is just starting still has this one's
/// descriptors open, and would be taken for somebody at work in the worktree.
pub const ONE_BY_ONE: usize = 1;

/// Run `each` over every repository, `jobs` at once. One that fails is reported and the others go on; when only one was meant, its
/// failure is the command's.
///
/// # Errors
/// Of the only repository.
pub fn run(
    context: &Context<'_>,
    jobs: usize,
    each: impl Fn(&Repository) -> Result<RepositoryReport> + Sync,
) -> Result<Vec<RepositoryReport>> {
    let found = repositories(context.options, &context.dir);
    let progress = context.ui.progress("looking at repositories", found.len());
    let reports = sys::threads::map(jobs, &found, |(place, repository)| {
        let report = match repository.clone().and_then(|repo| each(&repo)) {
            Err(error) if context.options.many() => {
                // Fatal for one of several is a failure of the whole.
                let error = Error { exit: Exit::Failed, ..error };
                let error = error.context(format_args!("'{}'", place.display())).at(place);
                Ok(RepositoryReport::failed(place, error))
            }
            report => report,
        };
        progress.step();
        report
    });
    reports.into_iter().collect()
}

/// The machine as it is now, looked at once a run.
pub fn host(context: &Context<'_>, now: Timestamp) -> Host {
    Host {
        processes: Processes::snapshot(),
        mounts: sys::mounts::Mounts::read().into(),
        leases: Leases::read(),
        here: sys::here::chain(&context.dir).into(),
        confined: sys::vantage::confined(),
        booted_at: sys::vantage::booted_at(),
        now,
        // Several repositories are looked at at once already.
        jobs: if context.options.many() { 1 } else { sys::threads::available() },
    }
}

/// Every shadow of a repository, or one, judged and not touched.
///
/// # Errors
/// When the repository cannot be read as a whole.
pub fn judged(
    repo: &Repository,
    policy: &Policy,
    host: &Host,
    only: Option<&Shadow>,
    depth: Depth,
) -> Result<RepositoryReport> {
    let names = only.map(|shadow| HashSet::from([shadow.name.clone()]));
    let mut survey = survey::survey(repo, policy, host, names.as_ref(), depth, Terms::default())?;
    if let Some(only) = only {
        // A worktree on no branch may have the name of a branch elsewhere.
        survey.judgements.retain(|judgement| judgement.evidence.shadow == *only);
    }
    let would = sweep::would(&Plan::new(&survey.judgements));
    Ok(sweep::report(repo, survey, would))
}

/// Directories with a `.git` directory, and bare repositories. Linked worktrees and submodules have a `.git` file and
/// are not canonical. Follows no links, and looks into no checkout but the root itself (a home directory may be one).
fn walk(dir: &Path, root: bool, places: &mut Vec<PathBuf>, failed: &mut Vec<(PathBuf, Error)>) {
    let entries = fs_err::read_dir(dir).and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>());
    let entries = match entries {
        Ok(entries) => entries,
        // Below the root, what may not be read is someone else's.
        Err(error) if root || error.kind() != std::io::ErrorKind::PermissionDenied => {
            return failed.push((dir.to_owned(), error.into()));
        }
        Err(_) => return,
    };
    let is_dir = |name: &str| entries.iter().any(|e| e.file_name() == name && e.file_type().is_ok_and(|t| t.is_dir()));
    let bare = is_dir("objects") && is_dir("refs") && entries.iter().any(|entry| entry.file_name() == "HEAD");
    if bare || is_dir(".git") {
        places.push(dir.to_owned());
    }
    let checkout = entries.iter().any(|entry| entry.file_name() == ".git");
    if bare || (checkout && !root) {
        return;
    }
    let mut below: Vec<PathBuf> = entries
        .iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.file_name() != ".git" && !SKIPPED.iter().any(|name| entry.file_name() == *name))
        .map(|entry| entry.path())
        .collect();
    below.sort();
    for path in below {
        walk(&path, false, places, failed);
    }
}
