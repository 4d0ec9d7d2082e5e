//! Leases of our own, `git-shadow.lease.v1`: one file a worktree in `<common dir>/shadow/leases`, for the owner only.
//!
//! Unlike a foreign one it says on which machine, boot and pid namespace its process runs and when that started, so that
//! "dead" is a matter of fact. A lease of another holder is taken over only when that one is provably dead.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};
use serde::{Deserialize, Serialize};

use super::{Artifact, Record, Unclear};
use crate::error::{Error, Result};
use crate::model::{Lease, LeaseState, Timestamp, bytes, short_name};
use crate::sys::{self, file, filesystem, process, vantage};

/// The format that the files declare.
pub const FORMAT: &str = "git-shadow.lease.v1";

/// A process, told from every other that ever had its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its id; 0: no process, the session only said that it is finished.
    pub pid: i64,
    /// When it started, in clock ticks since boot.
    pub start: Option<u64>,
    /// The boot.
    pub boot: Option<String>,
    /// The pid namespace.
    pub pid_namespace: Option<String>,
    /// The machine: its id where it has one, else its name.
    pub host: String,
}

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnLease {
    /// [`FORMAT`]
    pub format: String,
    /// The registration's id.
    #[serde(with = "bytes")]
    pub id: BString,
    /// What runs the session.
    pub harness: Option<String>,
    /// Who owns the worktree.
    #[serde(flatten)]
    pub holder: Holder,
    /// The user's id.
    pub user: u32,
    /// The worktree, resolved.
    #[serde(with = "bytes")]
    pub worktree: BString,
    /// The full name of its branch, escaped as `bytes` does.
    pub branch: Option<String>,
    /// When it was taken.
    pub acquired: Timestamp,
    /// When the session said that it is done.
    pub finished: Option<Timestamp>,
}

impl Holder {
    /// A running process of this machine.
    ///
    /// # Errors
    /// When there is none, or its start cannot be read: without it the lease could never be told to be over.
    pub fn running(pid: i64) -> Result<Holder> {
        if process::is_gone(pid) {
            return Err(Error::fatal("no-process", format!("no process has the id {pid}")));
        }
        let start = vantage::start_ticks(pid);
        if start.is_none() {
            return Err(Error::fatal("no-process", format!("cannot tell when process {pid} started")));
        }
        Ok(Holder { start, ..Holder::nobody(pid) })
    }

    /// No process.
    pub fn none() -> Holder {
        Holder::nobody(0)
    }

    fn nobody(pid: i64) -> Holder {
        let (boot, pid_namespace) = (vantage::boot_id(), vantage::pid_namespace());
        Holder { pid, start: None, boot, pid_namespace, host: vantage::machine() }
    }

    /// Why the process may still be at work; `None` when it is provably gone. `file` must be on a local file system for
    /// that: the id of a machine is copied with its image.
    pub fn may_live(&self, file: &Path) -> Option<String> {
        let pid = self.pid;
        if pid <= 0 {
            return None;
        }
        if self.host != vantage::machine() {
            return Some(format!("process {pid} is on another machine, '{}'", self.host));
        }
        match filesystem::is_local(file) {
            Ok(true) => {}
            Ok(false) => return Some(format!("'{}' is on a shared file system", file.display())),
            Err(error) => return Some(format!("process {pid} cannot be looked for: {error}")),
        }
        if self.boot.is_some() && vantage::boot_id().is_some() && self.boot != vantage::boot_id() {
            // No process outlives its boot.
            return None;
        }
        if self.pid_namespace != vantage::pid_namespace() {
            return Some(format!("process {pid} is in another pid namespace"));
        }
        let same = self.start.is_none() || vantage::start_ticks(pid).is_none_or(|now| Some(now) == self.start);
        (!process::is_gone(pid) && same).then(|| format!("process {pid} runs"))
    }
}

/// Where the leases of a repository are.
pub fn folder(shadow_dir: &Path) -> PathBuf {
    shadow_dir.join("leases")
}

/// The lease of a registration, if there is one.
///
/// # Errors
/// `bad-lease` (128) when the file cannot be read or understood.
pub fn find(shadow_dir: &Path, id: &BStr) -> Result<Option<OwnLease>> {
    let path = path_of(shadow_dir, id);
    match super::text(&path) {
        Ok(text) => parse(&text)
            .map(Some)
            .map_err(|why| Error::fatal("bad-lease", format!("cannot understand '{}': {why}", path.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::fatal("bad-lease", error.to_string())),
    }
}

/// Write a lease, whole or not at all.
///
/// # Errors
/// When the folder cannot be written.
pub fn write(shadow_dir: &Path, lease: &OwnLease) -> Result<()> {
    fs_err::create_dir_all(folder(shadow_dir))?;
    let text = serde_json::to_vec_pretty(lease).map_err(|e| Error::failed("lease", e.to_string()))?;
    file::write_atomically(&path_of(shadow_dir, lease.id.as_bstr()), &text, file::Access::Owner)
}

/// The file of a registration's lease.
pub fn path_of(shadow_dir: &Path, id: &BStr) -> PathBuf {
    folder(shadow_dir).join(format!("{}.json", bytes::encode(id)))
}

fn parse(text: &[u8]) -> Result<OwnLease, String> {
    let lease: OwnLease = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if lease.format != FORMAT {
        return Err(format!("unknown lease format '{}'", lease.format));
    }
    Ok(lease)
}

/// All of a repository, as the leases of others are read.
pub(super) fn read(shadow_dir: &Path, repository: &Path) -> (Vec<Record>, Vec<Unclear>) {
    super::read_all(&folder(shadow_dir), |path, text| parse(text).map(|lease| record(path, lease, repository)))
}

/// The files among the leases of a repository that nobody can read, with what is wrong.
pub fn unreadable(repo: &crate::git::Repository) -> Vec<(PathBuf, String)> {
    read(&repo.shadow_dir(), repo.path()).1.into_iter().map(|unclear| (unclear.path, unclear.error)).collect()
}

fn record(path: &Path, own: OwnLease, repository: &Path) -> Record {
    let now = sys::clock::now();
    let worktree = gix::path::from_bstr(own.worktree.as_bstr()).map(|p| p.into_owned()).unwrap_or_default();
    let branch = own.branch.as_deref().and_then(bytes::decode).map(|name| short_name(name.as_bstr()).to_owned());
    let lease = Lease {
        id: bytes::encode(&own.id),
        format: own.format,
        path: path.to_owned(),
        pid: (own.holder.pid > 0).then_some(own.holder.pid),
        state: own.holder.may_live(path).map_or(LeaseState::Dead, LeaseState::Live),
        finished: own.finished,
        newest: [Some(own.acquired), own.finished].into_iter().flatten().max().map(|time| time.min(now)),
        worktrees: vec![worktree.clone()],
        repositories: vec![super::resolve(repository)],
        session_root: None,
        branches: branch.iter().cloned().collect(),
    };
    let artifact = Artifact {
        repositories: vec![super::resolve(repository)],
        worktrees: vec![super::resolve(&worktree)],
        written: Some(worktree),
        branch,
    };
    Record { lease, artifacts: vec![artifact], folders: Vec::new(), acquired: Some(own.acquired), ended: own.finished }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn here() -> Holder {
        Holder::running(i64::from(std::process::id())).unwrap()
    }

    #[test]
    fn a_holder_is_told_from_every_other() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let file = folder.path();
        assert!(here().may_live(file).is_some_and(|why| why.ends_with(" runs")));
        let reused = Holder { start: Some(here().start.unwrap() + 1), ..here() };
        assert_eq!(reused.may_live(file), None, "another start: the id was used again");
        let rebooted = Holder { boot: Some("another".into()), ..here() };
        assert_eq!(rebooted.may_live(file), None);
        let elsewhere = Holder { host: "another".into(), boot: Some("another".into()), ..here() };
        assert!(elsewhere.may_live(file).is_some());
        let contained = Holder { pid: i64::from(i32::MAX), pid_namespace: Some("pid:[1]".into()), ..here() };
        assert!(contained.may_live(file).is_some());
        assert_eq!(Holder { pid: i64::from(i32::MAX), ..here() }.may_live(file), None);
        assert_eq!(Holder::none().may_live(file), None);
    }

    #[test]
    fn an_unknown_format_is_an_error() {
        let lease = OwnLease {
            format: "git-shadow.lease.v2".into(),
            id: "a".into(),
            harness: None,
            holder: here(),
            user: 0,
            worktree: "/a".into(),
            branch: None,
            acquired: Timestamp::UNIX_EPOCH,
            finished: None,
        };
        let text = serde_json::to_vec(&lease).unwrap();
        assert!(parse(&text).unwrap_err().contains("git-shadow.lease.v2"));
        let text = serde_json::to_vec(&OwnLease { format: FORMAT.into(), ..lease.clone() }).unwrap();
        assert_eq!(parse(&text).unwrap(), OwnLease { format: FORMAT.into(), ..lease });
        assert!(parse(b"{}").is_err());
    }
}
