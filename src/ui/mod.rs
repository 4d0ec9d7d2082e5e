//! The one owner of the streams: answers to standard output, narration to standard error.
//!
//! A reader that closes the pipe is no error: what is left of the answer is dropped, the work goes on and the exit code
//! stays what the work deserves.

mod choose;
mod paint;
mod progress;
mod safe;
mod terminal;

pub use paint::{Canvas, Ink, cut};
pub use progress::Progress;
pub use safe::{quoted, safe, safe_lossy, safe_path};

use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Exit};

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColourWhen {
    /// On a terminal and in git's pager, unless NO_COLOR is set
    #[default]
    Auto,
    /// In any case
    Always,
    /// In no case
    Never,
}

/// What the streams should look like.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// When to colour.
    pub colour: ColourWhen,
    /// No narration.
    pub quiet: bool,
    /// More narration.
    pub verbose: bool,
}

/// The streams.
#[derive(Debug)]
pub struct Ui {
    look: Look,
    colour: bool,
    colour_errors: bool,
    written: Mutex<std::io::Result<()>>,
}

impl Ui {
    /// The streams of this process.
    pub fn new(look: Look) -> Self {
        Ui {
            look,
            colour: terminal::colour(look.colour, std::io::stdout().is_terminal() || terminal::paged()),
            colour_errors: terminal::colour(look.colour, std::io::stderr().is_terminal()),
            written: Mutex::new(Ok(())),
        }
    }

    /// Whether the answer is coloured.
    pub fn colour(&self) -> bool {
        self.colour
    }

    /// Whether somebody looks at the answer, on a terminal or in git's pager.
    pub fn watched(&self) -> bool {
        std::io::stdout().is_terminal() || terminal::paged()
    }

    /// What an answer for people is drawn on.
    pub fn canvas(&self, here: &Path) -> Canvas {
        Canvas { colour: self.colour, width: terminal::width(), here: here.to_owned() }
    }

    /// A part of the answer.
    pub fn answer(&self, bytes: impl AsRef<[u8]>) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.is_ok() {
            let mut out = std::io::stdout().lock();
            *written = out.write_all(bytes.as_ref()).and_then(|()| out.flush());
        }
    }

    /// What is going on; not with `-q`.
    pub fn note(&self, text: &str) {
        if !self.look.quiet {
            self.raw(format!("{text}\n"));
        }
    }

    /// Details of what is going on; only with `-v`.
    pub fn detail(&self, text: &str) {
        if self.look.verbose {
            self.raw(format!("{text}\n"));
        }
    }

    /// What would help; not with `-q` nor where git's own hints are off (`GIT_ADVICE=0`).
    pub fn hint(&self, text: &str) {
        if !self.look.quiet && !terminal::no_advice() {
            self.labelled("hint", Ink::Yellow, text);
        }
    }

    /// Something that the user should know, though it stops nothing.
    pub fn warning(&self, text: &str) {
        self.labelled("warning", Ink::Yellow, text);
    }

    /// An error and its hint.
    pub fn error(&self, error: &Error) {
        let label = match error.exit {
            Exit::Fatal => "fatal",
            Exit::Done | Exit::No | Exit::Failed | Exit::Usage => "error",
        };
        self.labelled(label, Ink::Red, &error.message);
        if let Some(hint) = &error.hint {
            self.hint(hint);
        }
    }

    fn labelled(&self, label: &str, ink: Ink, text: &str) {
        let label = ink.on(self.colour_errors, &format!("{label}:"));
        let lines: String = text.lines().map(|line| format!("{label} {}\n", safe_lossy(line))).collect();
        self.raw(lines);
    }

    /// To standard error as it is; that nobody reads it is no error.
    pub fn raw(&self, text: String) {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    /// Whether someone can be asked.
    pub fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Ask for a yes or no; without anybody to ask, and for anything but a yes, the answer is no.
    pub fn ask(&self, question: &str) -> bool {
        if !self.can_ask() {
            return false;
        }
        self.raw(format!("{} [y/N] ", safe_lossy(question)));
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        read.is_ok() && matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    }

    /// Show how far `what` is, where that takes more than half a second and someone watches.
    pub fn progress(&self, what: &'static str, total: usize) -> Progress {
        Progress::new(what, total, !self.look.quiet && std::io::stderr().is_terminal() && !terminal::dumb())
    }

    /// The exit code, once all is written: an answer that could not be written is fatal, a closed pipe is not.
    pub fn close(&self, exit: Exit) -> Exit {
        match &*self.written.lock().unwrap_or_else(PoisonError::into_inner) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.labelled("fatal", Ink::Red, &format!("write failure on standard output: {error}"));
                exit.max(Exit::Fatal)
            }
            Ok(()) | Err(_) => exit,
        }
    }
}
