//! Operations: one run that changed something, in `<common dir>/shadow/operations/<operation>/`.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};

use gix::bstr::BStr;
use serde::{Deserialize, Serialize};

use super::files;
use super::intent::{Intent, Mark};
use crate::error::{Error, Result};
use crate::git::Repository;
use crate::model::Timestamp;
use crate::sys::file;

/// The format of an operation's `intent.json`.
pub const OPERATION: &str = "git-shadow.operation.v1";

/// The head of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`OPERATION`].
    pub schema: String,
    /// Its id.
    pub operation: String,
    /// The command that ran.
    pub command: String,
    /// When it began.
    pub started: Timestamp,
    /// Who ran it, where the environment says.
    pub user: Option<String>,
    /// The repository, for people.
    pub repository: String,
}

/// An operation as it is on the disk.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its folder.
    pub dir: PathBuf,
    /// Its head.
    pub header: Header,
    /// What it did or began, in the order of their numbers.
    pub items: Vec<Item>,
}

/// What became of an item so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// Past the commit point: it is only finished from here on.
    Released,
    /// Finished.
    Done,
    /// Put back: nothing of it was released.
    Reversed,
    /// It can neither be finished nor put back, because something took its place: everything stays with the operation.
    Stuck,
    /// Taken back by `undo`, all of it or the parts named.
    Undone,
}

impl Marker {
    /// The name of its file.
    pub fn as_str(self) -> &'static str {
        match self {
            Marker::Released => "released",
            Marker::Done => "done",
            Marker::Reversed => "reversed",
            Marker::Stuck => "stuck",
            Marker::Undone => "undone",
        }
    }
}

/// One item of an operation.
#[derive(Debug, Clone)]
pub struct Item {
    /// The operation's id.
    pub operation: String,
    /// Its number within the operation, from 0.
    pub number: usize,
    /// Its folder.
    pub dir: PathBuf,
    /// What was to be done.
    pub intent: Intent,
    /// Past the commit point.
    pub released: Option<Mark>,
    /// Finished.
    pub done: Option<Mark>,
    /// Put back.
    pub reversed: Option<Mark>,
    /// Stuck.
    pub stuck: Option<Mark>,
    /// Taken back.
    pub undone: Option<Mark>,
}

impl Item {
    /// The item of a folder, with its marks; `None` where the intent was never written.
    ///
    /// # Errors
    /// `corrupt-journal` (128).
    pub fn read(operation: &str, number: usize, dir: &Path) -> Result<Option<Item>> {
        let Some(intent) = files::read_json(&dir.join("intent.json"))? else { return Ok(None) };
        let mark = |marker: Marker| files::read_json::<Mark>(&dir.join(marker.as_str()));
        Ok(Some(Item {
            operation: operation.to_owned(),
            number,
            intent,
            released: mark(Marker::Released)?,
            done: mark(Marker::Done)?,
            reversed: mark(Marker::Reversed)?,
            stuck: mark(Marker::Stuck)?,
            undone: mark(Marker::Undone)?,
            dir: dir.to_owned(),
        }))
    }

    /// Write a mark, on the disk before this returns.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn mark(&mut self, marker: Marker, mark: Mark) -> Result<()> {
        files::write_json(&self.dir.join(marker.as_str()), &mark)?;
        let slot = match marker {
            Marker::Released => &mut self.released,
            Marker::Done => &mut self.done,
            Marker::Reversed => &mut self.reversed,
            Marker::Stuck => &mut self.stuck,
            Marker::Undone => &mut self.undone,
        };
        *slot = Some(mark);
        Ok(())
    }

    /// Take a mark away.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn unmark(&mut self, marker: Marker) -> Result<()> {
        file::remove(&self.dir.join(marker.as_str()))?;
        if marker == Marker::Stuck {
            self.stuck = None;
        }
        file::fsync_dir(&self.dir)
    }

    /// Nothing is left to be finished or put back.
    pub fn is_settled(&self) -> bool {
        self.done.is_some() || self.reversed.is_some()
    }

    /// Whether this item released that branch, or would have, and did not put it back.
    pub fn released_branch(&self, name: &BStr) -> bool {
        self.released.as_ref().is_some_and(|mark| mark.names(name))
    }

    /// The namespace of its pins, with a slash at its end.
    pub fn pin_prefix(&self) -> String {
        pin_prefix(&self.operation, self.number)
    }

    /// The registration's saved copy.
    pub fn saved(&self) -> PathBuf {
        self.dir.join("registration")
    }

    /// The registration itself, once it was moved.
    pub fn moved(&self) -> PathBuf {
        self.dir.join("moved")
    }

    /// What the tree was.
    pub fn snapshot(&self) -> PathBuf {
        self.dir.join("snapshot.json")
    }

    /// Copies of files that policy saves.
    pub fn files(&self) -> PathBuf {
        self.dir.join("files")
    }
}

/// `refs/shadow/kept/<operation>/<n>/`.
pub fn pin_prefix(operation: &str, number: usize) -> String {
    format!("refs/shadow/kept/{operation}/{number}/")
}

/// A new operation's id: its time, and something that tells it from others of the same second.
pub fn new_id(now: Timestamp) -> String {
    let random = RandomState::new().build_hasher().finish() & 0xffff;
    format!("{}-{random:04x}", now.strftime("%Y%m%dT%H%M%SZ"))
}

/// The journal of one repository.
#[derive(Debug, Clone)]
pub struct Journal {
    dir: PathBuf,
}

impl Journal {
    /// The journal of `repo`; nothing is made.
    pub fn of(repo: &Repository) -> Journal {
        Journal { dir: repo.shadow_dir().join("operations") }
    }

    /// Every operation, oldest first.
    ///
    /// # Errors
    /// `corrupt-journal` (128) naming the file that cannot be read.
    pub fn load(&self) -> Result<Vec<Operation>> {
        let mut operations = Vec::new();
        for id in self.ids()? {
            if let Some(operation) = self.read(&id)? {
                operations.push(operation);
            }
        }
        // Within one second the ids are in no order.
        operations.sort_by_key(|operation| operation.header.started);
        Ok(operations)
    }

    /// Every operation by its id, each with what is wrong with it; `None`: its head was never written.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn survey(&self) -> Result<Vec<(String, Result<Option<Operation>>)>> {
        let ids = self.ids()?.into_iter();
        Ok(ids.map(|id| (id.clone(), self.read(&id))).collect())
    }

    /// The operations that may have something open: those without the mark that all is settled.
    ///
    /// # Errors
    /// `corrupt-journal` (128) naming the file that cannot be read.
    pub fn unsettled(&self) -> Result<Vec<Operation>> {
        let mut operations = Vec::new();
        for id in self.ids()? {
            if !self.dir.join(&id).join("settled").exists() {
                operations.extend(self.read(&id)?);
            }
        }
        Ok(operations)
    }

    /// If nothing of the operation is open any more, say so, that readers need not look.
    ///
    /// # Errors
    /// `corrupt-journal` (128), or when the folder cannot be written.
    pub fn settle(&self, id: &str) -> Result<()> {
        let Some(operation) = self.read(id)? else { return Ok(()) };
        let mark = operation.dir.join("settled");
        if operation.items.iter().all(Item::is_settled) && !mark.exists() {
            files::write(&mark, b"")?;
        }
        Ok(())
    }

    /// Begin an operation.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn begin(&self, id: &str, command: &str, repo: &Repository, started: Timestamp) -> Result<Operation> {
        fs_err::create_dir_all(&self.dir)?;
        let dir = self.dir.join(id);
        fs_err::create_dir(&dir)?;
        file::fsync_dir(&self.dir)?;
        let header = Header {
            schema: OPERATION.into(),
            operation: id.into(),
            command: command.into(),
            started,
            user: std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok(),
            repository: repo.path().display().to_string(),
        };
        files::write_json(&dir.join("intent.json"), &header)?;
        Ok(Operation { dir, header, items: Vec::new() })
    }

    /// Add an item to an operation: from here on a killed run leaves something to recover.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn add(&self, operation: &Operation, number: usize, intent: Intent) -> Result<Item> {
        let dir = operation.dir.join(number.to_string());
        fs_err::create_dir(&dir)?;
        file::fsync_dir(&operation.dir)?;
        files::write_json(&dir.join("intent.json"), &intent)?;
        Ok(Item {
            operation: operation.header.operation.clone(),
            number,
            dir,
            intent,
            released: None,
            done: None,
            reversed: None,
            stuck: None,
            undone: None,
        })
    }

    fn ids(&self) -> Result<Vec<String>> {
        let entries = match fs_err::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(&self.dir, &error.to_string())),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| unreadable(&self.dir, &e.to_string()))?;
            if entry.file_type()?.is_dir() {
                ids.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// `None`: its head was never written, so that nothing was begun.
    fn read(&self, id: &str) -> Result<Option<Operation>> {
        let dir = self.dir.join(id);
        let Some(header) = files::read_json::<Header>(&dir.join("intent.json"))? else { return Ok(None) };
        let mut items = Vec::new();
        for entry in fs_err::read_dir(&dir).map_err(|e| unreadable(&dir, &e.to_string()))? {
            let entry = entry.map_err(|e| unreadable(&dir, &e.to_string()))?;
            if let Some(number) = entry.file_name().to_str().and_then(|n| n.parse().ok()) {
                items.extend(Item::read(id, number, &entry.path())?);
            }
        }
        items.sort_by_key(|item| item.number);
        Ok(Some(Operation { dir, header, items }))
    }
}

fn unreadable(path: &Path, why: &str) -> Error {
    Error::fatal("corrupt-journal", format!("cannot read the journal '{}': {why}", path.display()))
}
