//! How far hooks have looked: the tip of each base at the last sweep. They consider what landed since.
//!
//! What had landed by then but was held (somebody was still inside, say) is written beside it: it is looked at again, or
//! it would wait for a sweep of everything although nothing is in its way any more.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use serde::{Deserialize, Serialize};

use super::files;
use crate::error::Result;
use crate::git::Repository;
use crate::model::{Base, bytes};

/// `<common dir>/shadow/cursor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    bases: BTreeMap<String, String>,
    #[serde(default)]
    waiting: BTreeMap<String, String>,
}

impl Cursor {
    /// Where the last sweep left it.
    ///
    /// # Errors
    /// `corrupt-journal` (128) when the file cannot be understood.
    pub fn read(repo: &Repository) -> Result<Cursor> {
        let read = files::read_json(&repo.shadow_dir().join("cursor"));
        let hint = "move that file aside; hooks then begin with the next landing";
        Ok(read.map_err(|error| error.hint(hint))?.unwrap_or_default())
    }

    /// After a sweep that looked at these tips and held what is `waiting`: names of shadows, and their tips.
    pub fn after<'a>(bases: &[Base], waiting: impl IntoIterator<Item = (&'a BString, ObjectId)>) -> Cursor {
        let bases = bases.iter().map(|base| (bytes::encode(&base.name), base.tip.to_string()));
        let waiting = waiting.into_iter().map(|(name, tip)| (bytes::encode(name), tip.to_string()));
        Cursor { bases: bases.collect(), waiting: waiting.collect() }
    }

    /// What hooks look at from now on: a base that has no entry begins at its tip.
    #[must_use]
    pub fn begin(mut self, bases: &[Base]) -> Cursor {
        for base in bases {
            self.bases.entry(bytes::encode(&base.name)).or_insert_with(|| base.tip.to_string());
        }
        self
    }

    /// The tip of a base at the last sweep.
    pub fn tip(&self, base: &BStr) -> Option<ObjectId> {
        ObjectId::from_hex(self.bases.get(&bytes::encode(base))?.as_bytes()).ok()
    }

    /// Whether anything is to be looked at again.
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether this shadow is, at this tip.
    pub fn waits_for(&self, name: &BStr, tip: &ObjectId) -> bool {
        self.waiting
            .get(&bytes::encode(name))
            .is_some_and(|at| ObjectId::from_hex(at.as_bytes()).is_ok_and(|at| at == *tip))
    }

    /// Write it down.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, repo: &Repository) -> Result<()> {
        fs_err::create_dir_all(repo.shadow_dir())?;
        files::write_json(&repo.shadow_dir().join("cursor"), self)
    }
}
