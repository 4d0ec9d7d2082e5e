//! The only place that starts a process: git, in a scrubbed environment.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// What `git rev-parse --local-env-vars` lists, and what else would make git look elsewhere. A hook in a linked
/// worktree inherits an absolute `GIT_DIR`; with it `git -C` answers about another tree.
const SCRUBBED: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DEFAULT_HASH",
    "GIT_DEFAULT_REF_FORMAT",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REF_STORAGE_FORMAT",
    "GIT_REFLOG_ACTION",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// One call of git, being put together.
#[derive(Debug)]
pub struct Git {
    command: Command,
    input: Option<Vec<u8>>,
    shown: String,
}

impl Git {
    /// `git <args>` in `dir`, in the C locale, without optional locks, replace refs or lazy fetches.
    pub fn new<S: AsRef<OsStr>>(dir: &Path, args: impl IntoIterator<Item = S>) -> Self {
        let args: Vec<OsString> = args.into_iter().map(|a| a.as_ref().to_owned()).collect();
        let shown = args.iter().take(3).map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut command = Command::new("git");
        command.current_dir(dir).arg("--no-optional-locks").arg("--no-replace-objects").args(args);
        scrub(&mut command);
        command.env("LC_ALL", "C").env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
        Git { command, input: None, shown: format!("git {shown}") }
    }

    /// With an environment variable.
    #[must_use]
    pub fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    /// About this registration and this worktree, whatever `core.worktree` says.
    #[must_use]
    pub fn worktree(self, git_dir: &Path, path: &Path) -> Self {
        self.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", path)
    }

    /// With this on standard input.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Run it; what it printed, whatever it ended with.
    ///
    /// # Errors
    /// When git cannot be started or its pipes break.
    pub fn output(mut self) -> Result<std::process::Output> {
        let start = |e: std::io::Error| {
            Error::fatal("no-git", format!("cannot run git: {e}")).hint("git 2.40 or newer must be in PATH")
        };
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let Some(input) = self.input else {
            return self.command.stdin(Stdio::null()).output().map_err(start);
        };
        let mut child = self.command.stdin(Stdio::piped()).spawn().map_err(start)?;
        let stdin = child.stdin.take();
        // A thread feeds it, so that neither side waits for the other with a full pipe.
        std::thread::scope(|scope| {
            let feed = scope.spawn(move || stdin.map_or(Ok(()), |mut pipe| pipe.write_all(&input)));
            let output = child.wait_with_output();
            // A git that ends early closes the pipe; its exit status says why.
            let _ = feed.join();
            output.map_err(|e| Error::failed("git", format!("{}: {e}", self.shown)))
        })
    }

    /// Run it; what it printed to standard output.
    ///
    /// # Errors
    /// When it cannot be started or does not exit with 0; the message is git's own.
    pub fn run(self) -> Result<Vec<u8>> {
        let shown = self.shown.clone();
        let output = self.output()?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("fatal: ").replace('\n', "; ");
        let said = if said.is_empty() { output.status.to_string() } else { said };
        Err(Error::failed("git", format!("{shown}: {said}")))
    }
}

fn scrub(command: &mut Command) {
    for name in SCRUBBED {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        let bytes = name.as_encoded_bytes();
        if bytes.starts_with(b"GIT_CONFIG_KEY_")
            || bytes.starts_with(b"GIT_CONFIG_VALUE_")
            || bytes.starts_with(b"GIT_TRACE")
        {
            command.env_remove(&name);
        }
    }
}
