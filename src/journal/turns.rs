//! Whose turn it is: a sweep over what the program keeps itself looks at a few entries a run and goes on behind them in
//! the next, so that entries that can never go do not starve those behind them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::files;
use crate::error::Result;
use crate::git::Repository;
use crate::sys::clock;

/// Entries that a run looks at, at most.
const ENTRIES: usize = 64;

/// How long it looks, in milliseconds.
const MILLISECONDS: i128 = 250;

/// `<common dir>/shadow/turns`: for each kind of entry the last one that was looked at.
#[derive(Debug)]
pub struct Turns {
    file: PathBuf,
    last: BTreeMap<String, String>,
}

impl Turns {
    /// Where the last run stopped. Without a file that can be read the round begins anew: nothing depends on it but order.
    pub fn read(repo: &Repository) -> Turns {
        let file = repo.shadow_dir().join("turns");
        let last = files::read_json(&file).ok().flatten().unwrap_or_default();
        Turns { file, last }
    }

    /// Let `look` see those whose turn it is, each once at most, and remember where it stopped.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn each(&mut self, kind: &str, mut names: Vec<String>, mut look: impl FnMut(&str)) -> Result<()> {
        names.sort();
        let last = self.last.get(kind).cloned().unwrap_or_default();
        let next = names.partition_point(|name| *name <= last);
        names.rotate_left(next);
        let started = clock::now();
        let mut stopped = None;
        for name in names.iter().take(ENTRIES) {
            look(name);
            stopped = Some(name);
            if clock::now().duration_since(started).as_millis() >= MILLISECONDS {
                break;
            }
        }
        match stopped {
            // With few enough to see all of them every time there is nothing to remember.
            Some(name) if names.len() > ENTRIES || self.last.contains_key(kind) => {
                self.last.insert(kind.to_owned(), name.clone());
                files::write_json(&self.file, &self.last)
            }
            Some(_) | None => Ok(()),
        }
    }
}
