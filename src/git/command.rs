//! The only place that starts a process: git, and this program anew for a hook, in a scrubbed environment.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::sys::{self, interrupt};

/// How long a git that was asked to end may take to clean up.
const LAST_WORDS: Duration = Duration::from_secs(2);

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
    timeout: Option<Duration>,
    shown: String,
}

/// A call of another program of the system's, in the same scrubbed environment; its first arguments are shown in errors.
pub fn tool<S: AsRef<OsStr>>(program: &str, args: impl IntoIterator<Item = S>) -> Git {
    let args: Vec<OsString> = args.into_iter().map(|a| a.as_ref().to_owned()).collect();
    let mut command = Command::new(program);
    scrub(&mut command);
    command.env("LC_ALL", "C").args(&args);
    let shown = args.iter().take(2).map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ");
    Git { command, input: None, timeout: None, shown: format!("{program} {shown}") }
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
        Git { command, input: None, timeout: None, shown: format!("git {shown}") }
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

    /// For no longer than this; then it is ended.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Run it; what it printed, whatever it ended with.
    ///
    /// # Errors
    /// When git cannot be started, its pipes break or its time is up.
    pub fn output(mut self) -> Result<Output> {
        let program = self.command.get_program().to_string_lossy().into_owned();
        let start = |e: std::io::Error| match program.as_str() {
            "git" => Error::fatal("no-git", format!("cannot run git: {e}")).hint("git 2.40 or newer must be in PATH"),
            other => Error::failed("no-program", format!("cannot run {other}: {e}")),
        };
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(limit) = self.timeout {
            let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
            let command = self.command.stdin(stdin);
            let (child, started) = interrupt::start(|| command.spawn()).map_err(start)?;
            return limited((child, started), self.input, limit, &self.shown);
        }
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        let command = self.command.stdin(stdin);
        let (mut child, _started) = interrupt::start(|| command.spawn()).map_err(start)?;
        let (stdin, input) = (child.stdin.take(), self.input.unwrap_or_default());
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

/// What a child printed, if it ends in time. Its own children (ssh, a remote helper) may keep the pipes open after it
/// has been ended, so the threads that read them are left to themselves then.
fn limited(
    (mut child, _started): (Child, interrupt::Started),
    input: Option<Vec<u8>>,
    limit: Duration,
    shown: &str,
) -> Result<Output> {
    let broken = |e: std::io::Error| Error::failed("git", format!("{shown}: {e}"));
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || stdin.zip(input).map(|(mut pipe, input)| pipe.write_all(&input)));
    let (done, printed) = mpsc::channel();
    std::thread::spawn(move || {
        let errors = std::thread::spawn(move || drain(stderr));
        let out = drain(stdout);
        // A receiver that has given up is no longer interested.
        let _ = done.send((out, errors.join()));
    });
    let Ok((stdout, stderr)) = printed.recv_timeout(limit) else {
        sys::signal::terminate_tree(child.id());
        let _ = printed.recv_timeout(LAST_WORDS);
        // It may be gone already; `wait` tells.
        let _ = child.kill();
        child.wait().map_err(broken)?;
        return Err(Error::failed("timeout", format!("{shown}: no answer within {} s", limit.as_secs())));
    };
    let stderr = stderr.map_err(|_| Error::failed("git", format!("{shown}: its output was lost")))?;
    Ok(Output {
        status: child.wait().map_err(broken)?,
        stdout: stdout.map_err(broken)?,
        stderr: stderr.map_err(broken)?,
    })
}

fn drain(pipe: Option<impl std::io::Read>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// This program, started anew to go on alone.
#[derive(Debug)]
pub struct Worker {
    said: mpsc::Receiver<String>,
}

impl Worker {
    /// `git-shadow <args>` in `dir`.
    ///
    /// # Errors
    /// When this program's own file cannot be told or started.
    pub fn start<S: AsRef<OsStr>>(dir: &Path, args: impl IntoIterator<Item = S>) -> Result<Worker> {
        let mut command = Command::new(std::env::current_exe()?);
        scrub(&mut command);
        // It is not where the hook is; a shell that is inside a worktree is found among the processes.
        command.env_remove("PWD");
        command.args(args).current_dir(dir).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (say, said) = mpsc::channel();
        let stdout = child.stdout.take();
        std::thread::spawn(move || {
            let said = drain(stdout).unwrap_or_default();
            // It closes its end when it is done.
            let _ = child.wait();
            // Whoever started it may have gone on already.
            let _ = say.send(String::from_utf8_lossy(&said).into_owned());
        });
        Ok(Worker { said })
    }

    /// All that it had to say, if it ends in time.
    pub fn within(self, limit: Duration) -> Option<String> {
        self.said.recv_timeout(limit).ok()
    }
}

/// What a failpoint of a test wants to happen, through the shell; its parent is this process.
#[cfg(debug_assertions)]
pub fn run_for_test(script: &str) {
    let mut command = Command::new("sh");
    scrub(&mut command);
    command.args(["-c", script]).env_remove("GIT_SHADOW_FAILPOINT").stdin(Stdio::null()).stdout(Stdio::null());
    let _ = command.status();
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
