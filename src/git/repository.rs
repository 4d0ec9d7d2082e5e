//! The handle of a canonical repository.

use std::path::{Path, PathBuf};

use super::command::Git;
use super::sizes::Sizes;
use crate::error::{Error, Result, chain};
use crate::model::shell;

/// Extensions that gix and this program understand; git refuses the others, gix ignores them.
const EXTENSIONS: &[&str] = &[
    "noop",
    "noop-v1",
    "preciousobjects",
    "partialclone",
    "worktreeconfig",
    "objectformat",
    "refstorage",
    "relativeworktrees",
];

/// The code of an error about a repository whose refs are links; its path is where they lead.
pub const SHARED_REFS: &str = "shared-refs";

/// A canonical repository, opened from anywhere inside it or one of its worktrees.
#[derive(Debug, Clone)]
pub struct Repository {
    shared: gix::ThreadSafeRepository,
    common_dir: PathBuf,
    work_dir: Option<PathBuf>,
    sizes: Sizes,
}

impl Repository {
    /// The repository that `path` is in, also when it is in a linked worktree. The environment
    /// (`GIT_DIR` …) does not count.
    ///
    /// # Errors
    /// 128 when there is none, when it is someone else's, or when its format is unknown.
    pub fn discover(path: &Path) -> Result<Self> {
        let shared =
            gix::ThreadSafeRepository::discover_opts(path, Default::default(), trusted_options()).map_err(|e| {
                Error::fatal("not-a-repository", format!("not a git repository: '{}'", path.display()))
                    .context_of(&e, path)
            })?;
        Self::canonical(shared, path)
    }

    /// The repository at `place` and no other, whose git directory this is.
    ///
    /// # Errors
    /// As [`Repository::discover`], and when git would not take it for a repository.
    pub fn open(place: &Path, git_dir: &Path) -> Result<Self> {
        let repo = Self::discover(place)?;
        // Above a damaged one another may be found.
        if fs_err::canonicalize(git_dir).ok().as_deref() == Some(repo.common_dir()) {
            return Ok(repo);
        }
        Err(Error::fatal("not-a-repository", format!("'{}' is no repository that git can open", git_dir.display())))
    }

    /// The same repository as it is now: its configuration is read when it is opened.
    ///
    /// # Errors
    /// As [`Repository::open`].
    pub fn again(&self) -> Result<Self> {
        Self::at(self.path(), self.common_dir())
    }

    /// The repository with this main worktree (a bare one: itself) and this git directory, of which neither may lead to
    /// the other.
    ///
    /// # Errors
    /// As [`Repository::open`], and when that is not its main worktree any more.
    pub fn at(path: &Path, common_dir: &Path) -> Result<Self> {
        // With 'core.worktree' the checkout does not lead back.
        let repo = Self::open(path, common_dir).or_else(|_| Self::open(common_dir, common_dir))?;
        if repo.path() == path {
            return Ok(repo);
        }
        Err(Error::fatal(
            "not-a-repository",
            format!("'{}' is not in '{}' any more", common_dir.display(), path.display()),
        ))
    }

    /// Where the submodules of the checkout are, by its `.gitmodules`; none where that cannot be read.
    pub fn submodules(&self) -> Vec<PathBuf> {
        let Some(checkout) = self.work_dir() else { return Vec::new() };
        let gix = self.local();
        let modules = gix.submodules().ok().flatten().into_iter().flatten();
        let paths: Vec<_> = modules.filter_map(|module| module.path().ok()).collect();
        paths.into_iter().filter_map(|path| Some(checkout.join(gix::path::from_bstring(path).ok()?))).collect()
    }

    fn canonical(shared: gix::ThreadSafeRepository, path: &Path) -> Result<Self> {
        let main = shared.to_thread_local().main_repo().map_err(|e| {
            Error::fatal(
                "not-a-repository",
                format!("cannot open the main repository of '{}': {}", path.display(), chain(&e)),
            )
        })?;
        if main.git_dir_trust() != gix::sec::Trust::Full {
            // The directory that 'safe.directory' has to name.
            let place = main.workdir().unwrap_or(main.git_dir());
            let why = format!("repository '{}' is owned by someone else", place.display());
            return Err(Error::fatal("unsafe-owner", why)
                .hint(format!("git config --global --add safe.directory {}", shell::path(place))));
        }
        check_format(&main)?;
        let common_dir = fs_err::canonicalize(main.common_dir())?;
        has_own_refs(&common_dir)?;
        let work_dir = main.workdir().map(fs_err::canonicalize).transpose()?;
        Ok(Repository { shared: main.into_sync(), common_dir, work_dir, sizes: Sizes::default() })
    }

    /// A handle for this thread, with an object cache; it does not see the environment.
    pub fn local(&self) -> gix::Repository {
        let mut repo = self.shared.to_thread_local();
        repo.clear_namespace();
        repo.object_cache_size(32 << 20);
        // What a commit says counts, not what someone would rather read.
        repo.objects.ignore_replacements = true;
        repo
    }

    /// The size of an object, read once for all worktrees.
    ///
    /// # Errors
    /// When there is no such object, or it cannot be read.
    pub fn size_of(&self, gix: &gix::Repository, id: gix::ObjectId) -> Result<u64> {
        self.sizes.of(gix, id)
    }

    /// The directory that all worktrees share, resolved.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The main worktree, resolved; `None` for a bare repository.
    pub fn work_dir(&self) -> Option<&Path> {
        self.work_dir.as_deref()
    }

    /// Whether it has no main worktree.
    pub fn is_bare(&self) -> bool {
        self.work_dir.is_none()
    }

    /// Where it is, for people: the main worktree, else the repository itself.
    pub fn path(&self) -> &Path {
        self.work_dir().unwrap_or(&self.common_dir)
    }

    /// Where this program keeps its own: `<common dir>/shadow`.
    pub fn shadow_dir(&self) -> PathBuf {
        self.common_dir.join("shadow")
    }

    /// A call of git about the repository as a whole (no worktree).
    pub fn git<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Git {
        Git::new(&self.common_dir, args).env("GIT_DIR", &self.common_dir)
    }
}

fn trusted_options() -> gix::sec::trust::Mapping<gix::open::Options> {
    let options = gix::open::Options::default();
    gix::sec::trust::Mapping { full: options.clone(), reduced: options }
}

fn check_format(repo: &gix::Repository) -> Result<()> {
    let config = repo.config_snapshot();
    if config.string("extensions.refStorage").is_some_and(|v| v.as_slice() != b"files") {
        return Err(Error::fatal("unsupported-format", "the reftable ref storage is not supported")
            .hint("git refs migrate --ref-format=files"));
    }
    for section in config.plumbing().sections_by_name("extensions").into_iter().flatten() {
        for name in section.value_names() {
            let name = name.to_ascii_lowercase();
            if !EXTENSIONS.iter().any(|known| *known == name) {
                return Err(Error::fatal("unsupported-format", format!("unknown repository extension '{name}'")));
            }
        }
    }
    Ok(())
}

/// A checkout whose branches are links into another repository (`git-new-workdir`, older versions of Google's `repo`) is
/// no worktree that git knows: from neither of them can be told which branches the other has checked out.
fn has_own_refs(common_dir: &Path) -> Result<()> {
    for name in ["refs", "refs/heads", "packed-refs"] {
        let link = common_dir.join(name);
        if fs_err::symlink_metadata(&link).is_ok_and(|found| found.is_symlink()) {
            let lender = fs_err::canonicalize(&link)?;
            let lender = lender.ancestors().nth(Path::new(name).components().count()).unwrap_or(&lender);
            let message = format!("'{}' is a link: its branches are those of '{}'", link.display(), lender.display());
            return Err(Error::fatal(SHARED_REFS, message)
                .hint("git cannot tell what both have checked out; 'git worktree add' makes checkouts that it knows")
                .at(lender));
        }
    }
    Ok(())
}

impl Error {
    /// A discovery error that is more than "there is none" keeps its cause.
    fn context_of(self, error: &(dyn std::error::Error + 'static), path: &Path) -> Self {
        if fs_err::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Error::fatal("not-a-repository", format!("no directory '{}'", path.display()));
        }
        let text = chain(error);
        if text.contains("Could not find a git repository") || text.contains("not find a git repository") {
            return self.hint("run it inside a repository, or name one with --repo");
        }
        Error::fatal("not-a-repository", format!("cannot open the repository at '{}': {text}", path.display()))
    }
}
