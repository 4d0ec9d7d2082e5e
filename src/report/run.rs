//! For people: what a run would do, and what it did.

use std::collections::HashSet;

use super::human::{Page, fetched, none, sections, unresolved};
use super::{Report, ShadowReport, Summary, View, table, words};
use crate::model::{Hold, Outcome, Registration, StepKind, StepReport, Verdict};
use crate::ui::{Canvas, Ink, safe, safe_lossy};

/// What would be done.
pub(super) fn planned(page: &mut Page, report: &Report, view: &View, canvas: &Canvas) {
    let counts = Summary::of(report);
    if counts.shadows > 0 {
        page.text.push_str(&format!("would release {}\n\n", counts.share()));
    } else {
        none(page, report);
    }
    sections(page, report, view, canvas, |text, rows| {
        let width = rows.iter().map(|row| unicode_width(&words::label(&row.judgement))).max().unwrap_or(0);
        for row in rows {
            match row.judgement.verdict {
                Verdict::Release | Verdict::Partial => going(text, row, width, canvas),
                Verdict::Held | Verdict::Foreign => holds(text, row, width, canvas),
            }
        }
    });
    let folders = report.folders();
    if folders > 0 {
        let folders = words::count(folders, "session folder");
        page.text.push_str(&format!("would delete {folders} that nothing is left in\n"));
    }
    for root in report.session_roots.iter().filter(|root| view.verbose || !root.waits()) {
        let path = canvas.path(&root.path);
        page.text.push_str(&match root.holds.first() {
            None => format!("{}\n", canvas.ink(Ink::Green, &format!(" - {path}"))),
            Some(hold) => format!(" = {}\n", canvas.hang(&format!("{path}  held: {}", safe_lossy(&hold.message)), 3)),
        });
    }
    if counts.release + counts.partial + folders > 0 && !view.asks {
        page.hints.push(match report.command {
            "prune-sessions" => "nothing was changed; run 'git shadow prune-sessions --yes' to release".into(),
            command => format!("nothing was changed; run 'git shadow {command}' without -n to release"),
        });
    }
    help(page, report);
    unresolved(page, report, canvas);
    fetched(page, report, canvas);
}

/// What would help those that are held, each thing once, and where to read more.
fn help(page: &mut Page, report: &Report) {
    let shadows = report.repositories.iter().flat_map(|repository| &repository.shadows);
    let held: Vec<&ShadowReport> = shadows.filter(|shadow| shadow.judgement.verdict == Verdict::Held).collect();
    let mut holds: Vec<&Hold> = held.iter().flat_map(|shadow| &shadow.judgement.holds).collect();
    holds.sort_by_key(|hold| hold.code);
    let mut told = HashSet::new();
    for hold in holds {
        if let Some(remedy) = &hold.remedy
            && told.insert((hold.code.as_str(), remedy))
        {
            page.hints.push(format!("{}: {remedy}", hold.code));
        }
    }
    if let Some(first) = held.first() {
        page.hints.push(format!("'git shadow explain {}' shows the evidence", words::name(&first.judgement)));
    }
}

fn unicode_width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

fn going(text: &mut String, row: &ShadowReport, width: usize, canvas: &Canvas) {
    let judgement = &row.judgement;
    let tip = words::tip(judgement).map_or("-".into(), words::short);
    let worktree = judgement.evidence.shadow.worktree.as_ref();
    let place = worktree.map(|worktree| path(worktree, canvas)).unwrap_or_default();
    let line = format!(" - {}  {tip}  {place}", table::pad(&words::label(judgement), width));
    text.push_str(&format!("{}\n", canvas.ink(Ink::Green, line.trim_end())));
    if let Some((word, rest)) = words::reason(judgement) {
        detail(text, word, &rest, canvas);
    }
    actions(row, canvas).iter().for_each(|(verb, object)| detail(text, verb, object, canvas));
    if let (Verdict::Partial, Some(branch)) = (judgement.verdict, &judgement.evidence.shadow.branch) {
        for hold in &judgement.holds {
            detail(text, "keep", &format!("{}: {}", safe(&branch.name), safe_lossy(&hold.message)), canvas);
        }
    }
}

/// What its steps are to users: a verb and what it is done to.
pub(super) fn actions(row: &ShadowReport, canvas: &Canvas) -> Vec<(&'static str, String)> {
    let of = |step: &StepReport| {
        let (verb, object) = action(step.step, row, canvas)?;
        Some((verb, step.detail.as_ref().map_or(object.clone(), |more| format!("{object} ({})", safe_lossy(more)))))
    };
    row.steps.iter().filter_map(of).collect()
}

fn action(step: StepKind, row: &ShadowReport, canvas: &Canvas) -> Option<(&'static str, String)> {
    let shadow = &row.judgement.evidence.shadow;
    let worktree = shadow.worktree.as_ref();
    Some(match step {
        StepKind::MoveWorktree => ("remove", format!("worktree {}", path(worktree?, canvas))),
        StepKind::DropRegistration => ("drop", format!("registration {}", safe(&worktree?.id))),
        StepKind::DeleteBranch => {
            let branch = shadow.branch.as_ref()?;
            ("delete", format!("{}, if still {}", safe(&branch.name), words::short(branch.tip?)))
        }
        // Part of removing the worktree, as users see it; and what is done to no shadow.
        StepKind::DeleteFiles
        | StepKind::DetachHead
        | StepKind::SetUpstream
        | StepKind::ExcludePins
        | StepKind::Sweep => return None,
        StepKind::Restore => ("restore", "what an interrupted run had moved".into()),
        StepKind::Finish => ("finish", "what an interrupted run had begun".into()),
    })
}

fn path(worktree: &Registration, canvas: &Canvas) -> String {
    worktree.path.as_deref().map_or("at an unknown place".into(), |path| canvas.path(path))
}

fn detail(text: &mut String, word: &str, rest: &str, canvas: &Canvas) {
    text.push_str(format!("     {word:7}  {}", canvas.hang(rest, 14)).trim_end());
    text.push('\n');
}

fn holds(text: &mut String, row: &ShadowReport, width: usize, canvas: &Canvas) {
    let mut name = table::pad(&words::label(&row.judgement), width);
    let mut mark = '=';
    for hold in &row.judgement.holds {
        let message = canvas.hang(&safe_lossy(&hold.message), width + 11);
        text.push_str(&format!(" {mark} {name}  held: {message}\n"));
        (name, mark) = (" ".repeat(width), ' ');
    }
    if row.judgement.holds.is_empty() {
        text.push_str(&format!(" = {name}  {}\n", words::why(row)));
    }
}

/// What was done.
pub(super) fn done(page: &mut Page, report: &Report, view: &View, canvas: &Canvas) {
    sections(page, report, view, canvas, |text, rows| {
        let width = rows.iter().map(|row| unicode_width(&words::label(&row.judgement))).max().unwrap_or(0);
        for row in rows {
            let (mark, word, ink) = ending(row);
            let tag = canvas.ink(ink, &format!("{:10}", format!("[{word}]")));
            let name = table::pad(&words::label(&row.judgement), width);
            let why = canvas.hang(&words::why(row), width + 17);
            text.push_str(format!(" {mark} {tag}  {name}  {why}").trim_end());
            text.push('\n');
        }
    });
    for root in report.session_roots.iter().filter(|root| view.verbose || !root.waits()) {
        let (mark, word, ink, why) = match root.holds.first() {
            None => ('-', "deleted", Ink::Green, "nothing was left in it".into()),
            Some(hold) => ('=', "held", Ink::Plain, safe_lossy(&hold.message)),
        };
        let tag = canvas.ink(ink, &format!("{:10}", format!("[{word}]")));
        page.text.push_str(&format!(" {mark} {tag}  {}  {why}\n", canvas.path(&root.path)));
    }
    let counts = Summary::of(report);
    let rows = report.repositories.iter().flat_map(|repository| &repository.shadows);
    let in_part = rows.filter(|row| matches!(ending(row), (_, "partial", _))).count();
    let foreign = if view.all { counts.foreign } else { 0 };
    let mut parts = vec![format!("released {}", counts.released - in_part)];
    if in_part > 0 {
        parts.push(format!("{in_part} in part"));
    }
    for (word, number) in [
        ("raced", counts.raced),
        ("failed", counts.failed),
        ("pending", counts.pending),
        ("held", counts.held),
        ("foreign", foreign),
    ] {
        if number > 0 {
            parts.push(format!("{word} {number}"));
        }
    }
    if report.folders() > 0 {
        parts.push(format!("deleted {}", words::count(report.folders(), "session folder")));
    }
    let operation = report.operation.as_ref().map(|operation| format!(" (operation {operation})")).unwrap_or_default();
    page.text.push_str(&format!("{}{operation}\n", parts.join(", ")));
    if report.operation.is_some() {
        let until = view.undo_until.map(|until| format!(" until {}", until.strftime("%Y-%m-%d"))).unwrap_or_default();
        page.hints.push(format!("'git shadow undo' takes it back{until}"));
    }
    // What was asked for by name and did not go needs an answer; a sweep always leaves some.
    if report.command == "release" {
        help(page, report);
    }
    fetched(page, report, canvas);
}

fn ending(row: &ShadowReport) -> (char, &'static str, Ink) {
    match (row.outcome(), row.judgement.verdict) {
        (Some(Outcome::Done), Verdict::Partial) => ('-', "partial", Ink::Green),
        (Some(Outcome::Done), _) => ('-', "released", Ink::Green),
        (Some(Outcome::Raced), _) => ('!', "raced", Ink::Yellow),
        (Some(Outcome::Failed), _) => ('!', "failed", Ink::Red),
        (Some(Outcome::Pending), _) => ('~', "pending", Ink::Yellow),
        (None | Some(Outcome::Would), Verdict::Foreign) => ('=', "foreign", Ink::Dim),
        (None | Some(Outcome::Would), _) => ('=', "held", Ink::Plain),
    }
}
