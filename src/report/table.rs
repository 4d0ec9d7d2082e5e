//! The table of shadows.

use unicode_width::UnicodeWidthStr as _;

use super::{ShadowReport, words};
use crate::model::{Fact, Timestamp, Verdict};
use crate::ui::{Canvas, Ink, cut};

/// With less room than this for the reason, other columns are left out.
const ROOM: usize = 24;

/// A reason is not cut below this many columns; the line gets longer than the terminal instead.
const REASON: usize = 12;

/// Which cells are shown, of the choices the first that leaves the reason enough room.
const COLUMNS: &[&[usize]] = &[&[0, 1, 2, 3], &[0, 2, 3], &[0, 3]];

/// The same where the disk was measured.
const WITH_DISK: &[&[usize]] = &[&[0, 1, 2, 4, 3], &[0, 2, 4, 3], &[0, 4, 3], &[0, 3]];

struct Row {
    mark: char,
    cells: [String; 5],
    why: String,
    verdict: Verdict,
}

/// The shadows, one a line: `*` is the current worktree, `+` has a registered worktree.
pub(super) fn render(shadows: &[&ShadowReport], now: Timestamp, canvas: &Canvas) -> String {
    let rows: Vec<Row> = shadows.iter().map(|shadow| row(shadow, now)).collect();
    let heads = ["SHADOW", "TIP", "AGE", "VERDICT", "DISK"];
    let widths: [usize; 5] =
        std::array::from_fn(|n| rows.iter().map(|row| row.cells[n].width()).chain([heads[n].len()]).max().unwrap_or(0));
    let left = |columns: &[usize]| {
        let used = 2 + columns.iter().map(|n| widths[*n] + 2).sum::<usize>();
        canvas.width.map(|width| width.saturating_sub(used))
    };
    let fits = |columns: &&&[usize]| left(columns).is_none_or(|room| room >= ROOM);
    let choices = if shadows.iter().any(|shadow| shadow.disk.is_some()) { WITH_DISK } else { COLUMNS };
    let columns = choices.iter().find(fits).or(choices.last()).copied().unwrap_or_default();
    let head: String = columns.iter().map(|n| pad(heads[*n], widths[*n]) + "  ").collect();
    let mut text = format!("{}\n", canvas.ink(Ink::Dim, &format!("  {head}WHY")));
    for row in rows {
        let why = left(columns).map_or(row.why.clone(), |width| cut(&row.why, width.max(REASON)));
        let name = if row.mark == '*' { Ink::Green } else { Ink::Plain };
        let inks = [name, Ink::Yellow, Ink::Plain, ink(row.verdict), Ink::Plain];
        let cell = |n: &usize| canvas.ink(inks[*n], &pad(&row.cells[*n], widths[*n])) + "  ";
        let line = format!("{} {}{why}", row.mark, columns.iter().map(cell).collect::<String>());
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The colour that repeats a verdict.
pub(super) fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Release | Verdict::Partial => Ink::Green,
        Verdict::Held => Ink::Plain,
        Verdict::Foreign => Ink::Dim,
    }
}

/// Filled up with spaces to a number of columns.
pub(super) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn row(report: &ShadowReport, now: Timestamp) -> Row {
    let judgement = &report.judgement;
    let shadow = &judgement.evidence.shadow;
    let mark = match &shadow.worktree {
        Some(_) if report.is_current() => '*',
        Some(_) => '+',
        None => ' ',
    };
    let age = match &judgement.evidence.age {
        Fact::NotApplicable | Fact::NotAsked => "-".into(),
        Fact::Known(_) | Fact::Unknown(_) => words::age(report.age(now)),
    };
    let tip = words::tip(judgement).map_or("-".into(), words::short);
    let disk = report.disk.map_or("-".into(), words::disk);
    Row {
        mark,
        cells: [words::label(judgement), tip, age, judgement.verdict.as_str().into(), disk],
        why: words::why(report),
        verdict: judgement.verdict,
    }
}
