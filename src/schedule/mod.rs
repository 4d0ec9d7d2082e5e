//! A timer of the system that sweeps by itself: what lands on a server, where no hook runs, goes with it.
//!
//! One timer a user, kept where the system keeps them: a user unit of systemd, an agent of launchd, else a line in the
//! table of cron. What is written is sealed, so that nothing is replaced or taken out that somebody has changed.

mod cron;
mod launchd;
mod systemd;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::model::shell;
use crate::ui::safe_path;

/// How often it runs, in the words of each system. cron and systemd count from the day, so it is what divides one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every {
    /// As it is typed.
    pub name: &'static str,
    /// `OnCalendar` of systemd.
    pub calendar: &'static str,
    /// The first five fields of cron's line: not on the hour, where everybody's jobs start.
    pub cron: &'static str,
    /// In seconds, for launchd.
    pub seconds: u32,
}

/// All that there is.
pub const EVERY: &[Every] = &[
    Every { name: "15m", calendar: "*:2/15", cron: "2-59/15 * * * *", seconds: 900 },
    Every { name: "30m", calendar: "*:17/30", cron: "17,47 * * * *", seconds: 1_800 },
    Every { name: "1h", calendar: "*:17", cron: "17 * * * *", seconds: 3_600 },
    Every { name: "2h", calendar: "0/2:17", cron: "17 */2 * * *", seconds: 7_200 },
    Every { name: "3h", calendar: "0/3:17", cron: "17 */3 * * *", seconds: 10_800 },
    Every { name: "4h", calendar: "0/4:17", cron: "17 */4 * * *", seconds: 14_400 },
    Every { name: "6h", calendar: "0/6:17", cron: "17 */6 * * *", seconds: 21_600 },
    Every { name: "8h", calendar: "0/8:17", cron: "17 */8 * * *", seconds: 28_800 },
    Every { name: "12h", calendar: "0/12:17", cron: "17 */12 * * *", seconds: 43_200 },
    Every { name: "1d", calendar: "4:17", cron: "17 4 * * *", seconds: 86_400 },
    Every { name: "1w", calendar: "Mon 4:17", cron: "17 4 * * 1", seconds: 604_800 },
];

/// What keeps the timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// A user unit of systemd
    Systemd,
    /// An agent of launchd
    Launchd,
    /// A line in cron's table
    Cron,
}

impl By {
    /// All of them, the first choice first.
    pub const ALL: [By; 3] = [By::Systemd, By::Launchd, By::Cron];

    /// The stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Systemd => "systemd",
            By::Launchd => "launchd",
            By::Cron => "cron",
        }
    }

    /// Whether it is there and keeps this user's timers.
    pub fn is_there(self) -> bool {
        match self {
            By::Systemd => systemd::is_there(),
            By::Launchd => launchd::is_there(),
            By::Cron => cron::is_there(),
        }
    }

    /// What it keeps of ours; `job` is what this program would write.
    ///
    /// # Errors
    /// When it does not tell.
    pub fn look(self, job: Option<&Job>) -> Result<Option<Found>> {
        match self {
            By::Systemd => systemd::look(job),
            By::Launchd => launchd::look(job),
            By::Cron => cron::look(job),
        }
    }

    /// Put a job there, over one of ours that nobody changed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(self, job: &Job) -> Result<()> {
        match self {
            By::Systemd => systemd::put(job),
            By::Launchd => launchd::put(job),
            By::Cron => cron::put(job),
        }
    }

    /// Take ours out.
    ///
    /// # Errors
    /// When it cannot be done.
    pub fn take(self) -> Result<()> {
        match self {
            By::Systemd => systemd::take(),
            By::Launchd => launchd::take(),
            By::Cron => cron::take(),
        }
    }
}

/// A timer of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Nobody has changed it.
    pub intact: bool,
    /// It is what this program would write.
    pub current: bool,
    /// The file, or what stands in the table.
    pub place: String,
    /// When it runs next, where the system tells.
    pub next: Option<String>,
    /// Why it does not run although it is there.
    pub idle: Option<String>,
}

/// What the timer runs, and how often.
#[derive(Debug, Clone)]
pub struct Job {
    words: Vec<String>,
    path: String,
    /// How often.
    pub every: Every,
}

impl Job {
    /// What is run, as it would be typed.
    pub fn command(&self) -> String {
        self.words.iter().map(shell::word).collect::<Vec<_>>().join(" ")
    }

    /// Sweep all that is below these directories.
    ///
    /// # Errors
    /// When a path cannot be written into the files of all those systems.
    pub fn new(program: &Path, under: &[PathBuf], every: Every) -> Result<Job> {
        let mut words = vec![word(program)?, "prune-sessions".to_owned()];
        for directory in under {
            words.extend(["--under".to_owned(), word(directory)?]);
        }
        words.extend(["--fetch", "--yes", "-q"].map(ToOwned::to_owned));
        Ok(Job { words, path: search_path()?, every })
    }
}

/// Where git was found, then the usual places: a timer has no login's PATH.
fn search_path() -> Result<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Commands of git find its own folder in front.
    let usable = |dir: &PathBuf| dir.is_absolute() && !dir.ends_with("git-core") && dir.join("git").is_file();
    let git = std::env::split_paths(&path).find(usable);
    let mut dirs: Vec<PathBuf> = git.into_iter().collect();
    for usual in ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from) {
        if !dirs.contains(&usual) {
            dirs.push(usual);
        }
    }
    Ok(dirs.iter().map(|dir| word(dir)).collect::<Result<Vec<_>>>()?.join(":"))
}

/// A path as text on one line.
fn word(path: &Path) -> Result<String> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    text.map(ToOwned::to_owned).ok_or_else(|| {
        Error::fatal("bad-path", format!("'{}' cannot be written into a timer", safe_path(path)))
            .hint("a path of UTF-8 text on one line is needed; a link to it will do")
    })
}
