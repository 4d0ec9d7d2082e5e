//! Leases, own and foreign: who owns a shadow.
//!
//! A lease that may be live holds what it names, by path or by branch, whatever else fits: the session may have switched
//! its branch. A dead or released one says something of a shadow (its graces) only where everything fits: path, branch,
//! and that the worktree was not made after the session had ended.

mod folders;
mod foreign;
pub mod liveness;
pub mod lock_reason;
pub mod own;
mod start;
pub mod sweep;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::git::Repository;
use crate::model::{Fact, Lease, LeaseState, Timestamp};
use crate::sys;

pub use folders::session_folders;

/// All leases that this user can see, read once a run.
#[derive(Debug, Default)]
pub struct Leases {
    records: Vec<Record>,
    unclear: Vec<Unclear>,
}

/// A lease with what it names.
#[derive(Debug, Clone)]
struct Record {
    lease: Lease,
    artifacts: Vec<Artifact>,
    /// The session's own folders, resolved: what lies in them is the session's, named or not yet.
    folders: Vec<PathBuf>,
    /// When the lease was taken, where it says so: a worktree made later is not meant.
    acquired: Option<Timestamp>,
    /// When the session ended.
    ended: Option<Timestamp>,
}

/// A worktree and its branch; the paths resolved, several where it is not said from where they are relative.
#[derive(Debug, Clone)]
struct Artifact {
    repositories: Vec<PathBuf>,
    worktrees: Vec<PathBuf>,
    written: Option<PathBuf>,
    /// The short name.
    branch: Option<BString>,
}

/// A file that could not be read or understood.
#[derive(Debug, Clone)]
struct Unclear {
    path: PathBuf,
    error: String,
    text: Option<Vec<u8>>,
    /// It is the folder: any lease may be in it.
    all: bool,
}

/// What is asked about.
struct Subject<'a> {
    repository: PathBuf,
    /// As registered and as resolved.
    worktree: Option<(&'a Path, PathBuf)>,
    branch: Option<&'a BStr>,
    created: Option<Timestamp>,
}

impl Leases {
    /// Read the foreign leases of this user.
    pub fn read() -> Leases {
        match folders::leases() {
            Ok(folder) => Leases::read_from(&folder),
            Err(error) => {
                let all = Unclear { path: PathBuf::new(), error: error.to_string(), text: None, all: true };
                Leases { records: Vec::new(), unclear: vec![all] }
            }
        }
    }

    /// Read the foreign leases in a folder; one that is not there has none.
    pub fn read_from(folder: &Path) -> Leases {
        let (records, unclear) = foreign::read(folder, sys::clock::now());
        Leases { records, unclear }
    }

    /// These, and the repository's own.
    #[must_use]
    pub fn with_own(&self, repo: &Repository) -> Leases {
        let (mut records, mut unclear) = own::read(&repo.shadow_dir(), repo.path());
        records.extend(self.records.iter().cloned());
        unclear.extend(self.unclear.iter().cloned());
        Leases { records, unclear }
    }

    /// All that could be understood.
    pub fn all(&self) -> impl Iterator<Item = &Lease> {
        self.records.iter().map(|record| &record.lease)
    }

    /// The lease that names this shadow of the repository (its canonical checkout, or itself when bare): a live one before
    /// a dead one before a released one. `Unknown` when a lease that cannot be read may name it.
    pub fn naming(
        &self,
        repository: &Path,
        worktree: Option<&Path>,
        branch: Option<&BStr>,
        created: Option<Timestamp>,
    ) -> Fact<Option<Lease>> {
        let subject = Subject::new(repository, worktree, branch, created);
        let found =
            self.records.iter().filter(|record| record.names(&subject)).min_by_key(|record| record.lease.rank());
        if found.is_some_and(|record| record.lease.is_live()) {
            return Fact::Known(found.map(|record| record.lease.clone()));
        }
        for unclear in &self.unclear {
            match unclear.names(&subject) {
                Some(true) => return Fact::Known(Some(unclear.as_live())),
                Some(false) => {}
                None => return Fact::Unknown(format!("a lease that may name it: {}", unclear.error)),
            }
        }
        Fact::Known(found.map(|record| record.lease.clone()))
    }

    /// What may name a session's folder and cannot be understood.
    pub fn unclear_about(&self, root: &Path) -> Option<String> {
        let of_session = |unclear: &Unclear| unclear.path.file_stem() == root.file_name();
        let says = |unclear: &&Unclear| match &unclear.text {
            Some(text) => foreign::mentions(text, &[root.as_os_str().as_encoded_bytes()]) || of_session(unclear),
            None => true,
        };
        self.unclear.iter().find(says).map(|unclear| unclear.error.clone())
    }

    /// Whether a lease makes this worktree a shadow: path and branch fit, and it was not made after the session ended.
    pub fn claims(
        &self,
        repository: &Path,
        worktree: &Path,
        branch: Option<&BStr>,
        created: Option<Timestamp>,
    ) -> bool {
        let subject = Subject::new(repository, Some(worktree), branch, created);
        self.records.iter().any(|record| record.fits(&subject))
    }
}

impl<'a> Subject<'a> {
    fn new(
        repository: &Path,
        worktree: Option<&'a Path>,
        branch: Option<&'a BStr>,
        created: Option<Timestamp>,
    ) -> Subject<'a> {
        Subject {
            repository: resolve(repository),
            worktree: worktree.map(|path| (path, resolve(path))),
            branch: branch.map(crate::model::short_name),
            created,
        }
    }

    /// The session's id, where worktree or branch is called after one: `aos/claude/ab45`, `<sessions>/ab45/projects/…`.
    fn session(&self) -> Option<String> {
        let is_id = |name: &str| {
            let (letters, digits) = name.split_at_checked(2)?;
            let fits = letters.bytes().all(|b| b.is_ascii_lowercase())
                && digits.len() >= 2
                && digits.bytes().all(|b| b.is_ascii_digit());
            fits.then(|| name.to_owned())
        };
        let of_branch = self.branch.and_then(|name| is_id(name.rsplit(|b| *b == b'/').next()?.to_str().ok()?));
        of_branch.or_else(|| {
            let (_, path) = self.worktree.as_ref()?;
            let below = session_folders()
                .iter()
                .find_map(|folder| path.strip_prefix(resolve(folder)).ok().map(ToOwned::to_owned))?;
            is_id(below.iter().next()?.to_str()?)
        })
    }
}

impl Record {
    fn names(&self, subject: &Subject<'_>) -> bool {
        match self.lease.state {
            LeaseState::Live(_) => {
                let is_in = |(_, path): &(&Path, PathBuf)| self.folders.iter().any(|folder| path.starts_with(folder));
                subject.worktree.as_ref().is_some_and(is_in)
                    || self.artifacts.iter().any(|a| a.is_at(subject) || a.is_branch(subject))
            }
            LeaseState::Dead | LeaseState::Released => {
                self.fits(subject) || subject.worktree.is_none() && self.artifacts.iter().any(|a| a.is_branch(subject))
            }
        }
    }

    /// An own lease is taken in a worktree that is there. A foreign lease says when its process started, which is before its worktrees were made; so a worktree is the
    /// session's unless it was made after the session had ended.
    fn fits(&self, subject: &Subject<'_>) -> bool {
        let end = self.acquired.or(self.ended);
        let younger = subject.created.zip(end).is_some_and(|(created, end)| created > end);
        let on_branch =
            |a: &Artifact| a.branch.is_none() || a.branch.as_ref().map(|name| name.as_bstr()) == subject.branch;
        !younger && self.artifacts.iter().any(|a| a.is_at(subject) && on_branch(a))
    }
}

impl Artifact {
    fn is_at(&self, subject: &Subject<'_>) -> bool {
        let named = |(_, resolved): &(&Path, PathBuf)| self.worktrees.contains(resolved);
        subject.worktree.as_ref().is_some_and(named)
    }

    /// The branch of this repository, as far as the lease says which.
    fn is_branch(&self, subject: &Subject<'_>) -> bool {
        let ours = |path: &PathBuf| *path == subject.repository || path.join(".git") == subject.repository;
        self.branch.is_some()
            && self.branch.as_ref().map(|name| name.as_bstr()) == subject.branch
            && (self.repositories.is_empty() || self.repositories.iter().any(ours))
    }
}

impl Unclear {
    /// Whether it names the shadow; `None` when that cannot be told. A text that can be read tells by containing the name of
    /// the worktree or of the branch. Else a session's lease is called after it, so it tells when the shadow belongs
    /// to another session.
    fn names(&self, subject: &Subject<'_>) -> Option<bool> {
        if self.all {
            return None;
        }
        if let Some(text) = &self.text {
            let mut names: Vec<&[u8]> = subject.branch.iter().map(|name| name.as_bytes()).collect();
            if let Some((written, resolved)) = &subject.worktree {
                names.extend([written.as_os_str().as_encoded_bytes(), resolved.as_os_str().as_encoded_bytes()]);
            }
            if foreign::mentions(text, &names) {
                return Some(true);
            }
            // Whole, and without escapes that could hide a name.
            if serde_json::from_slice::<serde_json::Value>(text).is_ok() && !text.contains(&b'\\') {
                return Some(false);
            }
        }
        let session = subject.session()?;
        (self.path.file_stem()? != session.as_str()).then_some(false)
    }

    fn as_live(&self) -> Lease {
        Lease {
            id: self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            format: String::new(),
            path: self.path.clone(),
            pid: None,
            state: LeaseState::Live(format!("its lease cannot be understood: {}", self.error)),
            finished: None,
            newest: None,
            worktrees: Vec::new(),
            repositories: Vec::new(),
            session_root: None,
            branches: Vec::new(),
        }
    }
}

/// Every lease of a folder as `parse` understands it, and what could not be understood.
fn read_all(folder: &Path, parse: impl Fn(&Path, &[u8]) -> Result<Record, String>) -> (Vec<Record>, Vec<Unclear>) {
    let (mut records, mut unclear) = (Vec::new(), Vec::new());
    let files = match fs_err::read_dir(folder).and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>()) {
        Ok(entries) => entries.into_iter().map(|entry| entry.path()),
        Err(error) if error.kind() == ErrorKind::NotFound => return (records, unclear),
        Err(error) => {
            unclear.push(Unclear { path: folder.to_owned(), error: error.to_string(), text: None, all: true });
            return (records, unclear);
        }
    };
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    for path in files {
        let unclear_as = |error: String, text| Unclear { path: path.clone(), error, text, all: false };
        match text(&path) {
            // Deleted since: the session is over, and its lease with it.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => unclear.push(unclear_as(error.to_string(), None)),
            Ok(text) => match parse(&path, &text) {
                Ok(record) => records.push(record),
                Err(error) => unclear.push(unclear_as(format!("'{}': {error}", path.display()), Some(text))),
            },
        }
    }
    (records, unclear)
}

fn text(path: &Path) -> std::io::Result<Vec<u8>> {
    // Reading a pipe would wait for ever.
    if !fs_err::metadata(path)?.is_file() {
        return Err(std::io::Error::other(format!("'{}' is no file", path.display())));
    }
    fs_err::read(path)
}

/// A path with the links in it resolved, as far as it is there.
fn resolve(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(resolved), Ok(rest)) = (fs_err::canonicalize(above), path.strip_prefix(above)) {
            return if rest.as_os_str().is_empty() { resolved } else { resolved.join(rest) };
        }
    }
    path.to_owned()
}
