//! Configured hooks, git 2.54 and newer: `hook.<name>.event` and `hook.<name>.command` in the repository's configuration.
//! git runs them beside whatever is at its hooks' place, so nothing of anybody's has to be moved or recognised.
//!
//! The command must not fail when its script is gone (a push would be refused), and git appends the arguments to it.

use std::path::PathBuf;

use gix::bstr::{BString, ByteSlice as _};

use super::script;
use crate::error::{Error, Result, chain};
use crate::git::{Git, Repository};
use crate::model::Event;
use crate::sys::file::{self, Access};

/// The first git that runs them.
const SINCE: (u32, u32) = (2, 54);

/// How the commands that we write begin.
const OURS: &[u8] = b"git_shadow() {";

/// What the configuration says of one of our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// It is as this program writes it, and so is its script.
    pub current: bool,
    /// Nobody changed the command or the script.
    pub intact: bool,
    /// A setting that keeps git from running it.
    pub off: Option<String>,
}

/// Whether the git at hand runs configured hooks, and its version.
///
/// # Errors
/// When git does not tell its version.
pub fn supported(repo: &Repository) -> Result<(bool, String)> {
    let said = repo.git(["version"]).run()?;
    let said = said.to_str_lossy();
    let version = said.trim().trim_start_matches("git version ").split(' ').next().unwrap_or_default().to_owned();
    let mut numbers = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => Ok(((major, minor) >= SINCE, version)),
        (_, _) => Err(Error::failed("git", format!("cannot understand git's version '{}'", said.trim()))),
    }
}

/// One of our hooks in the configuration of a repository.
#[derive(Debug)]
pub struct Configured<'a> {
    repo: &'a Repository,
    event: Event,
    /// The script that the command runs.
    pub script: PathBuf,
}

impl<'a> Configured<'a> {
    /// The hook for an event.
    pub fn new(repo: &'a Repository, event: Event) -> Self {
        Configured { repo, event, script: repo.shadow_dir().join("hooks").join(event.as_str()) }
    }

    fn key(&self, name: &str) -> String {
        format!("hook.git-shadow-{}.{name}", self.event.as_str())
    }

    fn local(&self, args: &[&str]) -> Git {
        self.repo.git(["config", "--local"].into_iter().chain(args.iter().copied()))
    }

    fn values(&self, key: &str) -> Result<Vec<BString>> {
        let output = self.local(&["-z", "--get-all", key]).output()?;
        match output.status.code() {
            Some(0) => {
                let values = output.stdout.strip_suffix(b"\0").unwrap_or(&output.stdout);
                Ok(values.split(|byte| *byte == 0).map(BString::from).collect())
            }
            Some(1) => Ok(Vec::new()),
            _ => Err(Error::failed("git", format!("git config: {}", output.stderr.to_str_lossy().trim()))),
        }
    }

    fn command(&self) -> Result<BString> {
        let script = script::quote(&script::bytes(&self.script)?);
        let parts: [&[u8]; 5] = [OURS, b" [ ! -x ", &script, b" ] || ", &script];
        Ok([&parts.concat(), b" \"$@\"; }; git_shadow".as_slice()].concat().into())
    }

    /// What is there; `ours` is what this program would write.
    ///
    /// # Errors
    /// When the configuration or the script cannot be read.
    pub fn look(&self, ours: &[u8]) -> Result<Option<Entry>> {
        let (events, commands) = (self.values(&self.key("event"))?, self.values(&self.key("command"))?);
        if events.is_empty() && commands.is_empty() {
            return Ok(None);
        }
        let script = file::read(&self.script)?;
        let known = script.as_deref().map(script::is_ours).transpose()?;
        let written = events == [self.event.as_str()] && commands == [self.command()?];
        let own = |command: &BString| command.starts_with(OURS);
        let intact = events.iter().all(|event| *event == self.event.as_str()) && commands.iter().all(own);
        Ok(Some(Entry {
            current: written && script.as_deref() == Some(ours),
            intact: intact && matches!(known, None | Some(Some(true))),
            off: self.off()?,
        }))
    }

    /// A setting that keeps git from running it: of the hook, or (git 2.55) of the event.
    fn off(&self) -> Result<Option<String>> {
        for key in [self.key("enabled"), format!("hook.{}.enabled", self.event.as_str())] {
            let set = self.repo.git(["config", "--type=bool", "--get", &key]).output()?;
            if set.stdout.trim() == b"false" {
                return Ok(Some(format!("{key} = false in git's configuration")));
            }
        }
        Ok(None)
    }

    /// Write it. git refuses to go on when an event has no command, so the event comes last.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, ours: &[u8]) -> Result<()> {
        if let Some(dir) = self.script.parent() {
            fs_err::create_dir_all(dir)?;
        }
        file::write_atomically(&self.script, ours, Access::Program)?;
        let command = gix::path::from_bstring(self.command()?).map_err(|e| Error::failed("hooks", chain(&e)))?;
        let args = ["config", "--local", "--replace-all", &self.key("command")].map(PathBuf::from);
        self.repo.git(args.into_iter().chain([command])).run()?;
        self.local(&["--replace-all", &self.key("event"), self.event.as_str()]).run().map(|_| ())
    }

    /// Take it out again; what somebody set beside it stays.
    ///
    /// # Errors
    /// When it cannot be done.
    pub fn take(&self) -> Result<()> {
        for key in [self.key("event"), self.key("command")] {
            if !self.values(&key)?.is_empty() {
                self.local(&["--unset-all", &key]).run()?;
            }
        }
        file::remove(&self.script)?;
        // The other hook's script may still be in it.
        let _ = self.script.parent().map(fs_err::remove_dir);
        Ok(())
    }
}
