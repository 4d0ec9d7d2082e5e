//! One file per command: its arguments and its run.

pub mod completion;
pub mod disk;
pub mod doctor;
pub mod expire;
pub mod explain;
pub mod fetch;
pub mod finish;
pub mod fleet;
pub mod hook;
pub mod hooks;
pub mod init;
pub mod lease;
pub mod list;
pub mod log;
pub mod prune_sessions;
pub mod release;
pub mod schedule;
pub mod select;
pub mod sessions;
pub mod survey;
pub mod sweep;
pub mod undo;

use std::path::{Path, PathBuf};

use clap::ValueHint;

use crate::error::{Error, Exit, Result};
use crate::git::Repository;
use crate::report::human::Page;
use crate::report::{self, Format, Report, View};
use crate::sys::clock;
use crate::ui::{ColourWhen, Look, Ui};

/// Options that every command has; each may stand before the command's name or behind it.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Options {
    /// Start in DIR instead of the current directory; several are taken one from the other, as git does
    #[arg(short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: Vec<PathBuf>,
    /// The repository at DIR instead of the one here; repeat it for several
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub repo: Vec<PathBuf>,
    /// Every canonical repository below DIR; repeat it for several
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub under: Vec<PathBuf>,
    /// Print one JSON document (git-shadow.report.v1)
    #[arg(long)]
    pub json: bool,
    /// Print a stable format for scripts, a label a line
    #[arg(long)]
    pub porcelain: bool,
    /// End porcelain lines with NUL and quote nothing; implies --porcelain
    #[arg(short = 'z')]
    pub nul: bool,
    /// Say nothing beside the answer and errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Say more
    #[arg(short, long)]
    pub verbose: bool,
    /// Colour the output
    #[arg(long, value_name = "WHEN", num_args = 0..=1, default_missing_value = "always", require_equals = true)]
    pub color: Option<ColourWhen>,
}

impl Options {
    /// These and those that stand further behind; nothing that was given is dropped.
    #[must_use]
    pub fn and(&self, behind: &Options) -> Options {
        let all = |ours: &[PathBuf], theirs: &[PathBuf]| [ours, theirs].concat();
        Options {
            directory: all(&self.directory, &behind.directory),
            repo: all(&self.repo, &behind.repo),
            under: all(&self.under, &behind.under),
            json: self.json || behind.json,
            porcelain: self.porcelain || behind.porcelain,
            nul: self.nul || behind.nul,
            quiet: self.quiet || behind.quiet,
            verbose: self.verbose || behind.verbose,
            color: behind.color.or(self.color),
        }
    }

    /// In which form the answer is printed.
    pub fn format(&self) -> Format {
        match (self.json, self.porcelain || self.nul) {
            (true, _) => Format::Json,
            (false, true) => Format::Porcelain { nul: self.nul },
            (false, false) => Format::Human,
        }
    }

    /// What the streams should look like.
    pub fn look(&self) -> Look {
        Look { colour: self.color.unwrap_or_default(), quiet: self.quiet, verbose: self.verbose }
    }

    /// Several repositories may be meant: then one that fails is reported and the others go on.
    pub fn many(&self) -> bool {
        !self.under.is_empty() || self.repo.len() > 1
    }
}

/// What a command is run with.
#[derive(Debug)]
pub struct Context<'a> {
    /// The streams.
    pub ui: &'a Ui,
    /// The options that every command has.
    pub options: &'a Options,
    /// Where it starts, absolute.
    pub dir: PathBuf,
    /// The command as it is typed.
    pub command: &'static str,
}

impl Context<'_> {
    /// A path of the command line, from where the command starts.
    pub fn path(&self, given: &Path) -> PathBuf {
        self.dir.join(given)
    }

    /// The one repository that is meant, for a command that makes no sense for several.
    ///
    /// # Errors
    /// When several are named (129), or there is none.
    pub fn repository(&self) -> Result<Repository> {
        if self.options.many() {
            return Err(Error::usage(format!("'git shadow {}' is about one repository; name just one", self.command)));
        }
        let place = self.options.repo.first().map_or_else(|| self.dir.clone(), |given| self.path(given));
        Repository::discover(&place)
    }

    /// Print the answer in the form that was asked for, narration and errors beside it; the exit code it means.
    pub fn tell(&self, report: &Report, view: &View) -> Exit {
        let view = View { verbose: self.options.verbose, ..view.clone() };
        match self.options.format() {
            Format::Json => self.ui.answer(report::json::render(report, &view)),
            Format::Porcelain { nul } => self.ui.answer(report::porcelain::render(report, &view, nul)),
            Format::Human => self.show(&report::human::render(report, &view, &self.ui.canvas(&self.dir))),
        }
        self.end(report)
    }

    /// The errors beside an answer that was printed; the exit code that the report means.
    pub fn end(&self, report: &Report) -> Exit {
        for repository in &report.repositories {
            for error in &repository.errors {
                self.ui.error(error);
            }
        }
        report.exit()
    }

    /// Print an answer for people, and its hints.
    pub fn show(&self, page: &Page) {
        self.ui.answer(&page.text);
        page.hints.iter().for_each(|hint| self.ui.hint(hint));
    }

    /// End with an error. A program that asked for JSON gets a report all the same: one repository, the place that
    /// was asked about, with the error in it.
    ///
    /// # Errors
    /// The error again, when no report was asked for.
    pub fn fail(&self, error: Error) -> Result<Exit> {
        if self.options.format() != Format::Json {
            return Err(error);
        }
        let exit = error.exit;
        let place = self.options.repo.first().map_or_else(|| self.dir.clone(), |given| self.path(given));
        let report = Report::failed(self.command, clock::now(), &place, error);
        self.tell(&report, &View::default());
        Ok(exit)
    }
}
