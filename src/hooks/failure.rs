//! A hook says nothing and breaks nothing, so what went wrong in one is written down, for `hooks status` and `doctor`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::git::Repository;
use crate::journal::files;
use crate::model::Timestamp;
use crate::sys::file;

/// `<common dir>/shadow/hook-failed`: the newest failure since a hook last did its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// When.
    pub time: Timestamp,
    /// Which hook.
    pub hook: String,
    /// What went wrong.
    pub message: String,
}

impl Failure {
    /// The failure that nothing has followed yet.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn read(repo: &Repository) -> Result<Option<Failure>> {
        files::read_json(&path(repo))
    }

    /// Write down how a hook ended. Where that cannot be written there is nobody to tell.
    pub fn note(repo: &Repository, hook: &str, time: Timestamp, error: Option<&Error>) {
        let _ = match error {
            Some(error) => {
                files::write_json(&path(repo), &Failure { time, hook: hook.to_owned(), message: error.message.clone() })
            }
            None => file::remove(&path(repo)),
        };
    }
}

/// Where it is written down.
pub fn path(repo: &Repository) -> PathBuf {
    repo.shadow_dir().join("hook-failed")
}
