//! Bringing the bases of many repositories before anything is judged.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use super::Context;
use super::fleet::Found;
use crate::error::{Error, Exit};
use crate::git::fetch::fetch_bases;
use crate::git::{Repository, bases};
use crate::policy;
use crate::sys::threads;

/// How long a remote may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many repositories are fetched at once: their remotes are waited for, which costs nothing.
const AT_ONCE: usize = 8;

/// Repositories, and which of them were fetched in this run. Where that went wrong, they are judged on what was known
/// before.
#[derive(Debug)]
pub struct Fetched {
    /// All of them.
    pub found: Vec<Found>,
    /// What went wrong, by common directory; without an entry it was not tried.
    errors: HashMap<PathBuf, Vec<Error>>,
}

impl Fetched {
    /// Fetch them all where that is `wanted`, several at once.
    pub fn new(context: &Context<'_>, found: Vec<Found>, wanted: bool) -> Self {
        if !wanted {
            return Fetched { found, errors: HashMap::new() };
        }
        let repositories: Vec<&Repository> = found.iter().filter_map(|(_, repo)| repo.as_ref().ok()).collect();
        let progress = context.ui.progress("fetching", repositories.len());
        let fetched = threads::map(AT_ONCE, &repositories, |repo| {
            // A policy that cannot be read is told when the repository is judged.
            let errors = policy::load(repo).map(|policy| {
                let bases = bases::resolve(repo, &policy);
                fetch_bases(repo, bases.known().map(Vec::as_slice).unwrap_or_default(), PATIENCE)
            });
            progress.step();
            Some((repo.common_dir().to_owned(), errors.ok()?))
        });
        let errors = fetched.into_iter().flatten().collect();
        Fetched { found, errors }
    }

    /// Whether all bases of the repository were fetched.
    pub fn has(&self, repo: &Repository) -> bool {
        self.errors.get(repo.common_dir()).is_some_and(Vec::is_empty)
    }

    /// What went wrong with the repository, for its report: a failure, but none that ends anything.
    pub fn errors(&self, repo: &Repository) -> Vec<Error> {
        let errors = self.errors.get(repo.common_dir()).into_iter().flatten();
        let place = repo.path();
        let told = errors.map(|error| Error { exit: Exit::Failed, code: "fetch", ..error.clone() });
        told.map(|error| error.context(format_args!("'{}'", place.display())).at(place)).collect()
    }
}
