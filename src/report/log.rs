//! `git-shadow.log.v1` and its forms for people and scripts: the operations, newest first.

use gix::bstr::{BString, ByteSlice as _};
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::json::{instant, written};
use super::porcelain::Lines;
use super::table::pad;
use crate::model::Timestamp;
use crate::ui::{Canvas, Ink, safe, safe_lossy};

/// One operation in one repository.
#[derive(Debug, Clone)]
pub struct LogEntry {
    /// The operation's id.
    pub operation: String,
    /// The repository.
    pub repository: String,
    /// The command that ran.
    pub command: String,
    /// Who ran it.
    pub user: Option<String>,
    /// When it began.
    pub started: Timestamp,
    /// Until when it is kept.
    pub until: Timestamp,
    /// The refs that keep what it released.
    pub pins: usize,
    /// What it did, a shadow or branch each.
    pub shadows: Vec<LogShadow>,
}

/// What an operation did with one shadow.
#[derive(Debug, Clone)]
pub struct LogShadow {
    /// The shadow.
    pub name: BString,
    /// The branch, full, and its tip, where that went.
    pub branch: Option<(BString, String)>,
    /// The worktree's path, where that went.
    pub worktree: Option<BString>,
    /// Why it went.
    pub because: String,
    /// `released`, `fixed`, `undone`, `pending`, `reversed` or `stuck`.
    pub state: &'static str,
    /// What there is to say.
    pub detail: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    operations: Vec<EntryJson<'a>>,
}

#[derive(Serialize)]
struct EntryJson<'a> {
    operation: &'a str,
    repository: &'a str,
    command: &'a str,
    user: Option<&'a str>,
    started: String,
    until: String,
    pins: usize,
    shadows: Vec<ShadowJson<'a>>,
}

#[derive(Serialize)]
struct ShadowJson<'a> {
    name: String,
    branch: Option<BranchJson<'a>>,
    worktree: Option<String>,
    because: &'a str,
    state: &'a str,
    detail: Option<&'a str>,
}

#[derive(Serialize)]
struct BranchJson<'a> {
    r#ref: String,
    tip: &'a str,
}

fn shadow(one: &LogShadow) -> ShadowJson<'_> {
    ShadowJson {
        name: one.name.to_string(),
        branch: one.branch.as_ref().map(|(name, tip)| BranchJson { r#ref: name.to_string(), tip }),
        worktree: one.worktree.as_ref().map(ToString::to_string),
        because: &one.because,
        state: one.state,
        detail: one.detail.as_deref(),
    }
}

/// As JSON, with a line end.
pub fn json(entries: &[LogEntry]) -> Vec<u8> {
    let operations = entries.iter().map(|entry| EntryJson {
        operation: &entry.operation,
        repository: &entry.repository,
        command: &entry.command,
        user: entry.user.as_deref(),
        started: instant(entry.started),
        until: instant(entry.until),
        pins: entry.pins,
        shadows: entry.shadows.iter().map(shadow).collect(),
    });
    let document = Document { schema: "git-shadow.log.v1", operations: operations.collect() };
    written(&document)
}

/// For scripts: a record an operation, `operation` first, then its shadows; an empty line ends it.
pub fn porcelain(entries: &[LogEntry], nul: bool) -> Vec<u8> {
    let mut lines = Lines { bytes: Vec::new(), nul };
    for entry in entries {
        lines.text("operation", &entry.operation);
        lines.text("repository", &entry.repository);
        lines.text("command", &entry.command);
        lines.text("started", &instant(entry.started));
        lines.text("until", &instant(entry.until));
        lines.text("pins", &entry.pins.to_string());
        for shadow in &entry.shadows {
            lines.name(&format!("shadow {}", shadow.state), &shadow.name);
            if let Some((branch, tip)) = &shadow.branch {
                lines.name(&format!("branch {tip}"), branch);
            }
            if let Some(worktree) = &shadow.worktree {
                lines.name("worktree", worktree);
            }
        }
        lines.end();
    }
    lines.bytes
}

/// For people; of several repositories, each operation says in which it is.
pub fn human(entries: &[LogEntry], now: Timestamp, canvas: &Canvas) -> String {
    let mut text = String::new();
    let several = entries.iter().any(|entry| entry.repository != entries[0].repository);
    for entry in entries {
        let pins = if entry.pins == 1 { "1 pin".to_owned() } else { format!("{} pins", entry.pins) };
        let until = entry.until.strftime("%Y-%m-%d");
        let kept = if entry.until > now { format!("until {until}") } else { format!("kept past {until}") };
        let head = canvas.ink(Ink::Yellow, &entry.operation);
        let place = canvas.path(std::path::Path::new(&entry.repository));
        let place = if several { format!("  in {place}") } else { String::new() };
        text.push_str(&format!("{head}  {}  {kept}, {pins}{place}\n", safe_lossy(&entry.command)));
        let width = entry.shadows.iter().map(|shadow| safe(&shadow.name).width()).max().unwrap_or(0);
        for shadow in &entry.shadows {
            let tip = shadow.branch.as_ref().map(|(_, tip)| tip.get(..7).unwrap_or(tip)).unwrap_or("-      ");
            let place = shadow.worktree.as_ref().map(|path| format!("  {}", canvas.path(&path.to_path_lossy())));
            let detail = shadow.detail.as_ref().map(|detail| format!("  {}", safe_lossy(detail)));
            let state = format!("[{}]", shadow.state);
            let name = pad(&safe(&shadow.name), width);
            let (place, detail) = (place.unwrap_or_default(), detail.unwrap_or_default());
            text.push_str(format!("  {state:10}  {name}  {tip}{place}{detail}").trim_end());
            text.push('\n');
        }
    }
    text
}
