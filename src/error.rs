//! Errors and exit codes: one match from the kind of an error to the code of the process.

use std::fmt;
use std::path::PathBuf;

/// How the process ends (DESIGN section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Done; also when there was nothing to do or some shadows were held.
    Done,
    /// The answer is no.
    No,
    /// Something failed or raced, or one repository of several failed.
    Failed,
    /// No repository, bad policy, busy lock, a format that cannot be read.
    Fatal,
    /// Bad usage.
    Usage,
}

impl Exit {
    /// Every one.
    pub const ALL: &[Exit] = &[Exit::Done, Exit::No, Exit::Failed, Exit::Fatal, Exit::Usage];

    /// What it means, for the manual.
    pub fn about(self) -> &'static str {
        match self {
            Exit::Done => {
                "done; also when there was nothing to do, when shadows are held, and when the reader went away"
            }
            Exit::No => {
                "the answer is no: a shadow to release is held, undo is incomplete, '--exit-code' found something"
            }
            Exit::Failed => "something failed or raced, or one of several repositories did; nothing was lost",
            Exit::Fatal => "fatal: no repository, a bad policy, a busy lock, a repository format that cannot be read",
            Exit::Usage => "bad usage",
        }
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Failed => 2,
            Exit::Fatal => 128,
            Exit::Usage => 129,
        }
    }
}

/// An error with what would help.
#[derive(Debug, Clone)]
pub struct Error {
    /// Which exit code it means, when it is what ends the process.
    pub exit: Exit,
    /// A stable code for the JSON report: `not-a-repository`, `bad-policy`, …
    pub code: &'static str,
    /// As git writes messages: lower case, no full stop, the subject quoted.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
    /// The file or directory that it is about, for programs.
    pub path: Option<PathBuf>,
}

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error that ends the process (128) when nothing handles it.
    pub fn fatal(code: &'static str, message: impl Into<String>) -> Self {
        Error { exit: Exit::Fatal, code, message: message.into(), hint: None, path: None }
    }

    /// Something of several that failed (2).
    pub fn failed(code: &'static str, message: impl Into<String>) -> Self {
        Error { exit: Exit::Failed, code, message: message.into(), hint: None, path: None }
    }

    /// Bad usage (129).
    pub fn usage(message: impl Into<String>) -> Self {
        Error { exit: Exit::Usage, code: "usage", message: message.into(), hint: None, path: None }
    }

    /// The answer is no (1).
    pub fn no(code: &'static str, message: impl Into<String>) -> Self {
        Error { exit: Exit::No, code, message: message.into(), hint: None, path: None }
    }

    /// With a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// About this file or directory.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// With what was being done before the message.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// `fs-err` names the path, so the error's own text is enough.
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::failed("io", error.to_string())
    }
}

/// An error with its causes, one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    // What some library quotes ends with the line that it comes from.
    text.lines().map(str::trim_end).collect::<Vec<_>>().join(" ")
}
