//! Branches that `undo` brought back: held as `locked` until their tip moves.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::BStr;
use serde::{Deserialize, Serialize};

use super::files;
use crate::error::Result;
use crate::git::Repository;
use crate::model::bytes;

/// `<common dir>/shadow/undone`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    refs: BTreeMap<String, String>,
}

impl Undone {
    /// The marks.
    ///
    /// # Errors
    /// `corrupt-journal` (128) when the file cannot be understood.
    pub fn read(repo: &Repository) -> Result<Undone> {
        let read = files::read_json(&repo.shadow_dir().join("undone"));
        let hint = "move that file aside; what undo brought back without a worktree is then judged like anything else";
        Ok(read.map_err(|error| error.hint(hint))?.unwrap_or_default())
    }

    /// Whether undo brought the ref back at this tip.
    pub fn has(&self, name: &BStr, tip: &ObjectId) -> bool {
        self.refs.get(&bytes::encode(name)) == Some(&tip.to_string())
    }

    /// Mark a ref.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, repo: &Repository, name: &BStr, tip: &ObjectId) -> Result<()> {
        self.refs.insert(bytes::encode(name), tip.to_string());
        self.write(repo)
    }

    /// Forget refs that were released again.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn forget<'a>(&mut self, repo: &Repository, names: impl IntoIterator<Item = &'a BStr>) -> Result<()> {
        let before = self.refs.len();
        for name in names {
            self.refs.remove(&bytes::encode(name));
        }
        if self.refs.len() == before { Ok(()) } else { self.write(repo) }
    }

    fn write(&self, repo: &Repository) -> Result<()> {
        fs_err::create_dir_all(repo.shadow_dir())?;
        files::write_json(&repo.shadow_dir().join("undone"), self)
    }
}
