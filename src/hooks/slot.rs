//! One hook file, and the place beside it where the hook that was there before is kept.
//!
//! Ours is renamed over the user's only when that has a second name, so whenever a run is killed, git finds either the
//! old hook or ours, and ours calls the old one. What a killed run leaves (the second name) the next one takes up.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::script;
use crate::error::{Error, Result};
use crate::model::Event;
use crate::sys::file::{self, Access};
use crate::sys::private;
use crate::sys::tree::{Stat, rename_no_replace, stat};

/// A larger file is none of ours, and nobody's script.
const MOST_BYTES: u64 = 1 << 20;

/// Where a hook may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// What git, or a manager of hooks, calls.
    pub file: PathBuf,
    /// The one that was there before. Our script knows it by this name, whatever its own has become.
    pub kept: PathBuf,
}

/// What is in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum There {
    /// Nothing.
    Nothing,
    /// Ours.
    Ours {
        /// As it was written.
        intact: bool,
        /// Just as this program would write it.
        current: bool,
        /// git would run it.
        runs: bool,
    },
    /// Somebody else's, with its text where that is short.
    Other(Vec<u8>),
}

impl Slot {
    /// The slot of an event in a directory; `legacy`: where pre-commit calls the hook from that it found.
    pub fn new(dir: &Path, event: Event, legacy: bool) -> Slot {
        let name = event.as_str();
        let file = dir.join(if legacy { format!("{name}.legacy") } else { name.to_owned() });
        Slot { file, kept: dir.join(format!("{name}.git-shadow-kept")) }
    }

    /// It is where git looks, not where pre-commit does.
    pub fn is_gits(&self) -> bool {
        self.file.extension().is_none()
    }

    /// What is there; `ours` is what this program would write.
    ///
    /// # Errors
    /// When it cannot be read, or is nothing that git could run.
    pub fn look(&self, ours: &[u8]) -> Result<There> {
        let Some(found) = stat(&self.file)? else { return Ok(There::Nothing) };
        let text = match text(&self.file, &found)? {
            Some(text) => text,
            None => return Ok(There::Other(Vec::new())),
        };
        let intact = if found.is_link() { None } else { script::is_ours(&text)? };
        Ok(match intact {
            Some(intact) => There::Ours { intact, current: text == ours, runs: found.mode & 0o111 != 0 },
            None => There::Other(text),
        })
    }

    /// Whether it is a link to a program of another name, which would not know by ours what it is called for.
    pub fn is_one_of_many(&self) -> bool {
        let target = fs_err::read_link(&self.file).ok().filter(|target| target.file_name() != self.file.file_name());
        let program = target.and_then(|_| fs_err::read(&self.file).ok());
        program.is_some_and(|program| !program.starts_with(b"#!"))
    }

    /// The hook that ours calls, if there is one.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn chained(&self) -> Result<Option<PathBuf>> {
        Ok(stat(&self.kept)?.is_some().then(|| self.kept.clone()))
    }

    /// Whether a killed run had given the hook that is here its second name already.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn is_half_done(&self) -> Result<bool> {
        let (Some(file), Some(kept)) = (stat(&self.file)?, stat(&self.kept)?) else { return Ok(false) };
        if (file.dev, file.ino) == (kept.dev, kept.ino) {
            return Ok(true);
        }
        // Where a file can have no second name it was copied.
        let same = file.is_file() && kept.is_file() && file.size == kept.size && file.mode == kept.mode;
        Ok(same && fs_err::read(&self.file)? == fs_err::read(&self.kept)?)
    }

    /// Put our hook here, over one of ours that nobody changed, beside any other.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, ours: &[u8]) -> Result<()> {
        if let Some(dir) = self.file.parent() {
            fs_err::create_dir_all(dir)?;
        }
        if let There::Other(_) = self.look(ours)?
            && !self.is_half_done()?
        {
            self.keep()?;
        }
        file::write_atomically(&self.file, ours, Access::Program)
    }

    /// Give the hook that is here its second name.
    fn keep(&self) -> Result<()> {
        match fs_err::hard_link(&self.file, &self.kept) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error.into()),
            // The file system or the system's rules do not allow a second name: a copy.
            Err(_) if fs_err::symlink_metadata(&self.file)?.is_symlink() => {
                private::link(&fs_err::read_link(&self.file)?, &self.kept)?;
            }
            Err(_) => {
                let copy = self.kept.with_extension(format!("copy-{}", std::process::id()));
                let copied = fs_err::copy(&self.file, &copy).map_err(Error::from);
                let dated = |copy: fs_err::File| {
                    copy.set_modified(fs_err::metadata(&self.file)?.modified()?)?;
                    copy.sync_all()
                };
                let copied = copied.and_then(|_| Ok(fs_err::File::open(&copy).and_then(dated)?));
                if let Err(error) = copied.and_then(|()| rename_no_replace(&copy, &self.kept)) {
                    // The error that matters is the first one.
                    let _ = fs_err::remove_file(&copy);
                    return Err(error);
                }
            }
        }
        self.kept.parent().map_or(Ok(()), file::fsync_dir)
    }

    /// Take our hook out, and put the one back that was here before. Whether there was something to do.
    ///
    /// # Errors
    /// When it cannot be done.
    pub fn take(&self) -> Result<bool> {
        let kept = stat(&self.kept)?.is_some();
        match (self.look(&[])?, kept) {
            (There::Ours { intact: true, .. }, true) => fs_err::rename(&self.kept, &self.file)?,
            (There::Ours { intact: true, .. }, false) => fs_err::remove_file(&self.file)?,
            (There::Nothing, true) => rename_no_replace(&self.kept, &self.file)?,
            (There::Other(_), true) if self.is_half_done()? => fs_err::remove_file(&self.kept)?,
            (There::Nothing | There::Other(_) | There::Ours { .. }, _) => return Ok(false),
        }
        self.file.parent().map_or(Ok(()), file::fsync_dir)?;
        Ok(true)
    }
}

/// The text of a hook, if it is short; a link is followed, as git does.
fn text(file: &Path, found: &Stat) -> Result<Option<Vec<u8>>> {
    let shown = file.display();
    if found.is_dir() {
        return Err(Error::failed("hooks", format!("'{shown}' is a directory")).hint("move it aside").at(file));
    }
    if !found.is_file() && !found.is_link() {
        return Err(Error::failed("hooks", format!("'{shown}' is no regular file")).hint("move it aside").at(file));
    }
    let target = match fs_err::metadata(file) {
        Ok(target) => target,
        // git passes over a link that leads nowhere.
        Err(error) if found.is_link() && error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !target.is_file() || target.len() > MOST_BYTES {
        return Ok(None);
    }
    Ok(Some(fs_err::read(file)?))
}
