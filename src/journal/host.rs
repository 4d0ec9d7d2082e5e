//! The journal of what belongs to no repository: `$XDG_STATE_HOME/git-shadow/operations/<operation>/<n>.json`.

use std::path::{Path, PathBuf};

use gix::bstr::BString;
use serde::{Deserialize, Serialize};

use super::{files, of_path};
use crate::error::{Error, Result};
use crate::model::{Timestamp, bytes};
use crate::sys::tree::Snapshot;

/// A session root that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRootIntent {
    /// `git-shadow.session-root.v1`
    pub schema: String,
    /// The operation.
    pub operation: String,
    /// The folder.
    #[serde(with = "bytes")]
    pub path: BString,
    /// The common directories of the repositories that the run was about, escaped as `bytes` does.
    #[serde(default)]
    pub repositories: Vec<String>,
    /// All that is in it, and may go.
    pub snapshot: Snapshot,
    /// What the links among it say, in the order of the entries.
    pub targets: Vec<(String, String)>,
    /// When.
    pub at: Timestamp,
    /// Undo brought it back.
    pub undone: bool,
}

/// `$XDG_STATE_HOME/git-shadow`, on other systems where such things go there.
///
/// # Errors
/// When this user has no home.
pub fn state_dir() -> Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy()
        .map_err(|error| Error::failed("state", format!("cannot tell the user's state folder: {error}")))?;
    let dir = etcetera::BaseStrategy::state_dir(&strategy);
    Ok(dir.unwrap_or_else(|| etcetera::BaseStrategy::data_dir(&strategy)).join("git-shadow"))
}

fn folder(operation: &str) -> Result<PathBuf> {
    Ok(state_dir()?.join("operations").join(operation))
}

/// Journal the `n`th session root of an operation, on the disk when this returns.
///
/// # Errors
/// When it cannot be written.
pub fn add(n: usize, intent: &SessionRootIntent) -> Result<()> {
    let folder = folder(&intent.operation)?;
    fs_err::create_dir_all(&folder)?;
    files::write_json(&folder.join(format!("{n}.json")), intent)?;
    files::sync_parent(&folder)
}

/// The session roots of an operation, with their files.
///
/// # Errors
/// `corrupt-journal` (128).
pub fn read(operation: &str) -> Result<Vec<(PathBuf, SessionRootIntent)>> {
    // What a user typed may be a path as well.
    if !operation.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Ok(Vec::new());
    }
    read_below(&folder(operation)?)
}

fn read_below(folder: &Path) -> Result<Vec<(PathBuf, SessionRootIntent)>> {
    let mut found = Vec::new();
    for path in listed(folder)? {
        if let Some(intent) = files::read_json::<SessionRootIntent>(&path)? {
            found.push((path, intent));
        }
    }
    Ok(found)
}

/// The newest operation about one of these repositories (their common directories) of which something can be made again,
/// and when that was.
///
/// # Errors
/// `corrupt-journal` (128).
pub fn newest(repositories: &[PathBuf]) -> Result<Option<(Timestamp, String)>> {
    let asked: Vec<String> = repositories.iter().map(|dir| bytes::encode(&of_path(dir))).collect();
    let mut newest = None;
    for operation in listed(&state_dir()?.join("operations"))?.into_iter().filter(|path| path.is_dir()) {
        let ours = |intent: &SessionRootIntent| intent.repositories.iter().any(|dir| asked.contains(dir));
        let open = read_below(&operation)?.into_iter().filter(|(_, intent)| !intent.undone && ours(intent));
        newest = newest.max(open.map(|(_, intent)| (intent.at, intent.operation)).max());
    }
    Ok(newest)
}

/// Drop what is older than `before`: the folders were empty, nothing else keeps or needs it.
///
/// # Errors
/// When a file cannot be read or deleted.
pub fn expire(before: Timestamp) -> Result<()> {
    let mut operations = listed(&state_dir()?.join("operations"))?;
    operations.retain(|operation| operation.is_dir());
    for operation in operations {
        let intents = read_below(&operation)?;
        if intents.iter().all(|(_, intent)| intent.at < before) {
            for (path, _) in intents {
                fs_err::remove_file(path)?;
            }
            fs_err::remove_dir(&operation)?;
        }
    }
    Ok(())
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    match fs_err::read_dir(folder) {
        Ok(entries) => {
            let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
            paths.sort();
            Ok(paths)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
