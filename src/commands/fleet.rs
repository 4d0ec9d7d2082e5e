//! One command over many repositories: finding them, and going on when one fails.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{Context, Options, survey, sweep};
use crate::discover::below::below;
use crate::error::{Error, Exit, Result};
use crate::git::{Repository, SHARED_REFS};
use crate::inspect::{Depth, Host};
use crate::judge::Terms;
use crate::lease::Leases;
use crate::model::{Shadow, Timestamp};
use crate::policy::Policy;
use crate::report::RepositoryReport;
use crate::sys::{self, process::Processes, tree::stat};

/// A place where a repository was asked for, and the repository or why there is none.
pub type Found = (PathBuf, Result<Repository>);

/// The repositories that the options mean: those named, those below a directory, else the one here. Sorted by path,
/// each once however often it is named.
pub fn repositories(context: &Context<'_>) -> Vec<Found> {
    let Options { repo, under, .. } = context.options;
    let mut places: Vec<(PathBuf, Option<PathBuf>)> =
        repo.iter().map(|given| (resolved(context, given), None)).collect();
    let roots: Vec<PathBuf> = under.iter().map(|root| resolved(context, root)).collect();
    let below = below(&roots);
    tell_closed(context, &below.closed);
    places.extend(below.places.into_iter().map(|(place, git_dir)| (place, Some(git_dir))));
    if repo.is_empty() && under.is_empty() {
        places.push((context.dir.clone(), None));
    }
    let opened = sys::threads::map(sys::threads::available(), &places, |(place, git_dir)| {
        let repository = match git_dir {
            Some(git_dir) => Repository::open(place, git_dir),
            None => Repository::discover(place),
        };
        (repository.as_ref().map_or_else(|_| place.clone(), |repo| repo.path().to_owned()), repository)
    });
    let failed = below.failed.into_iter().map(|(place, error)| (place, Err(error)));
    let mut found: Vec<Found> = opened.into_iter().chain(failed).collect();
    // A repository that is kept apart from its checkout may be found by both; the checkout knows more.
    found.sort_by(|(a, one), (b, other)| {
        let bare = |repo: &Result<Repository>| repo.as_ref().is_ok_and(Repository::is_bare);
        bare(one).cmp(&bare(other)).then_with(|| a.cmp(b))
    });
    let mut seen = HashSet::new();
    found.retain(|(place, repo)| seen.insert(identity(place, repo)));
    refuse_lenders(&mut found);
    drop_submodules(&mut found);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// What a repository is, by whatever path it is reached: a mount may show it in several places.
fn identity(place: &Path, repo: &Result<Repository>) -> (PathBuf, Option<(u64, u64)>) {
    let dir = repo.as_ref().map_or(place, Repository::common_dir);
    match repo.is_ok().then(|| stat(dir)) {
        Some(Ok(Some(stat))) => (PathBuf::new(), Some((stat.dev, stat.ino))),
        _ => (dir.to_owned(), None),
    }
}

/// Where others use a repository's branches through links, nobody can tell what they have checked out.
fn refuse_lenders(found: &mut [Found]) {
    let lent = found.iter().filter_map(|(place, repo)| {
        let error = repo.as_ref().err().filter(|error| error.code == SHARED_REFS)?;
        Some((error.path.clone()?, place.clone()))
    });
    let lent: HashMap<PathBuf, PathBuf> = lent.collect();
    for (_, repo) in found {
        let borrower = repo.as_ref().ok().and_then(|repo| lent.get(repo.common_dir()));
        if let Some(borrower) = borrower {
            let message = format!("its branches are those of '{}' too, through links there", borrower.display());
            *repo = Err(Error::fatal(SHARED_REFS, message));
        }
    }
}

/// With links resolved, where it exists.
fn resolved(context: &Context<'_>, given: &Path) -> PathBuf {
    let path = context.path(given);
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
    over(context, &repositories(context), jobs, each)
}

/// The same over repositories that were found before.
///
/// # Errors
/// Of the only repository.
pub fn over(
    context: &Context<'_>,
    found: &[Found],
    jobs: usize,
    each: impl Fn(&Repository) -> Result<RepositoryReport> + Sync,
) -> Result<Vec<RepositoryReport>> {
    self::each(context, found, jobs, each, RepositoryReport::failed)
}

/// The same for whatever a command tells of a repository; `failed` makes it of the place and what went wrong there.
///
/// # Errors
/// Of the only repository.
pub fn each<T: Send>(
    context: &Context<'_>,
    found: &[Found],
    jobs: usize,
    each: impl Fn(&Repository) -> Result<T> + Sync,
    failed: impl Fn(&Path, Error) -> T + Sync,
) -> Result<Vec<T>> {
    let progress = context.ui.progress("looking at repositories", found.len());
    let reports = sys::threads::map(jobs, found, |(place, repository)| {
        let report = match repository.clone().and_then(|repo| each(&repo)) {
            Err(error) if context.options.many() => Ok(failed(place, of_several(place, error))),
            report => report,
        };
        progress.step();
        report
    });
    reports.into_iter().collect()
}

/// What went wrong with one repository of several: fatal for one is a failure of the whole.
pub fn of_several(place: &Path, error: Error) -> Error {
    Error { exit: Exit::Failed, ..error }.context(format_args!("'{}'", place.display())).at(place)
}

/// Repositories that cannot be used: of several they are told, and the others go on.
#[derive(Debug)]
pub struct Failed<'a> {
    context: &'a Context<'a>,
    any: bool,
}

impl<'a> Failed<'a> {
    /// None yet.
    pub fn of(context: &'a Context<'a>) -> Failed<'a> {
        Failed { context, any: false }
    }

    /// Whether there was one.
    pub fn any(&self) -> bool {
        self.any
    }

    /// How a command ends that has nothing else to say.
    pub fn exit(&self) -> Exit {
        if self.any { Exit::Failed } else { Exit::Done }
    }

    /// Tell what went wrong in one.
    pub fn tell(&mut self, error: &Error) {
        self.context.ui.error(error);
        self.any = true;
    }

    /// What came of a repository; `None` where it failed and others may go on.
    ///
    /// # Errors
    /// Of the only repository.
    pub fn pass<T>(&mut self, place: &Path, result: Result<T>) -> Result<Option<T>> {
        match result {
            Err(error) if self.context.options.many() => {
                self.tell(&of_several(place, error));
                Ok(None)
            }
            result => result.map(Some),
        }
    }
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
    let only = only.map(std::slice::from_ref);
    Ok(sweep::planned(repo, survey::of(repo, policy, host, only, depth, Terms::default())?))
}

/// A submodule's repository is not canonical, also where it lies in the checkout itself (as old versions of git made it).
fn drop_submodules(found: &mut Vec<Found>) {
    let inner = |place: &Path, other: &Path| place != other && place.starts_with(other);
    let all: Vec<PathBuf> = found.iter().map(|(place, _)| place.clone()).collect();
    let outer = found.iter().filter_map(|(_, repo)| repo.as_ref().ok());
    let outer = outer.filter(|repo| all.iter().any(|place| inner(place, repo.path())));
    let submodules: HashSet<PathBuf> = outer.flat_map(Repository::submodules).collect();
    found.retain(|(place, _)| !submodules.contains(place));
}

/// What could not be looked into may hold repositories, so nobody should take the answer for all there is.
fn tell_closed(context: &Context<'_>, closed: &[PathBuf]) {
    let Some(first) = closed.first() else { return };
    let more = match closed.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    context.ui.warning(&format!("'{}'{more} cannot be read, repositories in there are not told", first.display()));
    closed.iter().skip(1).for_each(|path| context.ui.detail(&format!("cannot be read: '{}'", path.display())));
}
