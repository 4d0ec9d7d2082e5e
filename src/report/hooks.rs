//! `git-shadow.hooks.v1` and its forms for people and scripts: the hooks of each repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::json::{instant, written};
use super::porcelain::Lines;
use super::table::pad;
use super::words;
use crate::error::Error;
use crate::model::{Hook, HookState, Timestamp, Way};
use crate::ui::{Canvas, Ink, safe, safe_lossy};

/// The hooks of one repository.
#[derive(Debug)]
pub struct HooksReport {
    /// The repository.
    pub repository: PathBuf,
    /// Its hooks; none when it failed.
    pub hooks: Vec<Hook>,
    /// What failed.
    pub errors: Vec<Error>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    command: &'a str,
    dry_run: bool,
    repositories: Vec<RepositoryJson<'a>>,
}

#[derive(Serialize)]
struct RepositoryJson<'a> {
    path: String,
    hooks: Vec<HookJson<'a>>,
    errors: Vec<ErrorJson<'a>>,
}

#[derive(Serialize)]
struct HookJson<'a> {
    event: &'static str,
    state: &'static str,
    change: Option<&'static str>,
    way: Option<&'static str>,
    path: Option<String>,
    chained: Option<String>,
    off: Option<&'a str>,
    failed: Option<FailureJson<'a>>,
    message: Option<&'a str>,
    remedy: Option<&'a str>,
}

#[derive(Serialize)]
struct FailureJson<'a> {
    time: String,
    message: &'a str,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    code: &'a str,
    message: &'a str,
    remedy: Option<&'a str>,
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn hook_json(hook: &Hook) -> HookJson<'_> {
    HookJson {
        event: hook.event.as_str(),
        state: hook.state.as_str(),
        change: hook.change.map(|change| change.as_str()),
        way: hook.way.map(|way| way.as_str()),
        path: hook.path.as_deref().map(shown),
        chained: hook.chained.as_deref().map(shown),
        off: hook.off.as_deref(),
        failed: hook.failed.as_ref().map(|(time, message)| FailureJson { time: instant(*time), message }),
        message: hook.why.as_deref(),
        remedy: hook.remedy.as_deref(),
    }
}

fn error_json(error: &Error) -> ErrorJson<'_> {
    ErrorJson { code: error.code, message: &error.message, remedy: error.hint.as_deref() }
}

/// As JSON, with a line end.
pub fn json(reports: &[HooksReport], command: &str, dry_run: bool) -> Vec<u8> {
    let repositories = reports.iter().map(|report| RepositoryJson {
        path: shown(&report.repository),
        hooks: report.hooks.iter().map(hook_json).collect(),
        errors: report.errors.iter().map(error_json).collect(),
    });
    let document = Document { schema: "git-shadow.hooks.v1", command, dry_run, repositories: repositories.collect() };
    written(&document)
}

/// For scripts: a record a repository, its hooks behind it; an empty line ends a record.
pub fn porcelain(reports: &[HooksReport], nul: bool) -> Vec<u8> {
    let mut lines = Lines { bytes: Vec::new(), nul };
    for report in reports {
        lines.name("repository", shown(&report.repository).as_bytes());
        report.errors.iter().for_each(|error| lines.error(error));
        for hook in report.hooks.iter().map(hook_json) {
            let mut line =
                |label: &str, value: Option<&str>| value.iter().for_each(|value| lines.name(label, value.as_bytes()));
            line("hook", Some(hook.event));
            line("state", Some(hook.state));
            line("change", hook.change);
            line("way", hook.way);
            line("path", hook.path.as_deref());
            line("chained", hook.chained.as_deref());
            line("off", hook.off);
            line("failed", hook.failed.map(|failed| format!("{} {}", failed.time, failed.message)).as_deref());
            line("message", hook.message);
        }
        lines.end();
    }
    lines.bytes
}

/// For people: a hook a line, below the repository where there are several.
pub fn human(reports: &[HooksReport], dry_run: bool, now: Timestamp, canvas: &Canvas) -> String {
    let hooks = || reports.iter().flat_map(|report| &report.hooks);
    let widths = [
        hooks().map(|hook| hook.event.as_str().width()).max().unwrap_or(0),
        hooks().map(|hook| word(hook, dry_run).width()).max().unwrap_or(0),
    ];
    let mut text = String::new();
    for report in reports {
        let several = reports.len() > 1;
        if several {
            text.push_str(&format!("{}\n", canvas.ink(Ink::Bold, &canvas.path(&report.repository))));
        }
        for hook in &report.hooks {
            let word = pad(&word(hook, dry_run), widths[1]);
            let (event, ink) = (pad(hook.event.as_str(), widths[0]), ink(hook));
            let indent = if several { "  " } else { "" };
            let line = format!("{indent}{event}  {}  {}", canvas.ink(ink, &word), about(hook, now, canvas));
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

fn word(hook: &Hook, dry_run: bool) -> String {
    let off = hook.off.is_some() && hook.state == HookState::Installed;
    match hook.change {
        Some(change) if dry_run => format!("would {}", change.would()),
        Some(change) => change.as_str().to_owned(),
        None if off => "off".to_owned(),
        // Why it is not there stands beside it.
        None if matches!(hook.state, HookState::Managed | HookState::Needless) => HookState::Absent.as_str().to_owned(),
        None => hook.state.as_str().to_owned(),
    }
}

fn ink(hook: &Hook) -> Ink {
    match hook.state {
        HookState::Installed if hook.off.is_none() => Ink::Green,
        HookState::Absent | HookState::Needless => Ink::Dim,
        HookState::Installed
        | HookState::Outdated
        | HookState::Bypassed
        | HookState::Edited
        | HookState::Replaced
        | HookState::Managed => Ink::Yellow,
    }
}

fn safe_os(name: &OsStr) -> String {
    safe(name.as_encoded_bytes())
}

/// Where it is, and what there is to say of it.
fn about(hook: &Hook, now: Timestamp, canvas: &Canvas) -> String {
    let how = match hook.way {
        Some(Way::Config) => " (configured hook)",
        Some(Way::File) | None => "",
    };
    let path = hook.path.as_deref().map(|path| format!("{}{how}", canvas.path(path)));
    let name = |path: &PathBuf| path.file_name().map(safe_os).unwrap_or_default();
    let chained = hook.chained.as_ref().map(|path| format!("which then calls {}", name(path)));
    let said = hook.why.as_deref().map(safe_lossy);
    let off = hook.off.as_ref().map(|why| format!("switched off: {}", safe_lossy(why)));
    let ago = |time: Timestamp| words::ago(now.duration_since(time));
    let failed = hook.failed.as_ref().map(|(time, why)| format!("failed {}: {}", ago(*time), safe_lossy(why)));
    [path, chained, said, off, failed].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
