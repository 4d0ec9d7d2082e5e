//! `git-shadow.schedule.v1` and its forms for people and scripts: the timers that sweep.

use serde::Serialize;

use super::json::written;
use super::porcelain::Lines;
use crate::model::Change;
use crate::ui::safe_lossy;

/// A timer of the system: what was done about it, and how it stands.
#[derive(Debug, Clone)]
pub struct Timer {
    /// What keeps it.
    pub by: &'static str,
    /// `absent`, `edited`, `idle` or `installed`.
    pub state: &'static str,
    /// What was done, or would be.
    pub change: Option<Change>,
    /// The file, or what stands in the table.
    pub place: Option<String>,
    /// When it runs next.
    pub next: Option<String>,
    /// Why it does not run although it is there.
    pub message: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    command: &'a str,
    dry_run: bool,
    timers: Vec<TimerJson<'a>>,
}

#[derive(Serialize)]
struct TimerJson<'a> {
    by: &'static str,
    state: &'static str,
    change: Option<&'static str>,
    place: Option<&'a str>,
    next: Option<&'a str>,
    message: Option<&'a str>,
}

fn timer_json(timer: &Timer) -> TimerJson<'_> {
    TimerJson {
        by: timer.by,
        state: timer.state,
        change: timer.change.map(Change::as_str),
        place: timer.place.as_deref(),
        next: timer.next.as_deref(),
        message: timer.message.as_deref(),
    }
}

/// As JSON, with a line end.
pub fn json(timers: &[Timer], command: &str, dry_run: bool) -> Vec<u8> {
    let timers = timers.iter().map(timer_json).collect();
    written(&Document { schema: "git-shadow.schedule.v1", command, dry_run, timers })
}

/// For scripts: a record a timer; an empty line ends a record.
pub fn porcelain(timers: &[Timer], nul: bool) -> Vec<u8> {
    let mut lines = Lines { bytes: Vec::new(), nul };
    for timer in timers.iter().map(timer_json) {
        lines.text("timer", timer.by);
        lines.text("state", timer.state);
        timer.change.iter().for_each(|change| lines.text("change", change));
        for (label, value) in [("place", timer.place), ("next", timer.next), ("message", timer.message)] {
            value.iter().for_each(|value| lines.name(label, value.as_bytes()));
        }
        lines.end();
    }
    lines.bytes
}

/// For people: a timer a line.
pub fn human(timers: &[Timer], dry_run: bool) -> String {
    let line = |timer: &Timer| {
        let word = match timer.change {
            Some(change) if dry_run => format!("would {}", change.would()),
            Some(change) => change.as_str().to_owned(),
            None => timer.state.to_owned(),
        };
        let next = timer.next.as_ref().map(|next| format!("next {next}"));
        let said = [timer.place.clone(), next, timer.message.clone()];
        let said = said.into_iter().flatten().map(|text| safe_lossy(&text)).collect::<Vec<_>>().join(", ");
        format!("{}\n", format!("{}  {word}  {said}", timer.by).trim_end())
    };
    timers.iter().map(line).collect()
}
