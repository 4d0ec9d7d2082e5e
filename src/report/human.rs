//! For people: the answer for standard output, and hints for standard error.

use std::collections::BTreeMap;

use gix::bstr::ByteSlice as _;
use jiff::SignedDuration;

use super::{Report, RepositoryReport, ShadowReport, Summary, View, overview, run, table, words};
use crate::model::{Code, Timestamp, Verdict};
use crate::ui::{Canvas, Ink};

/// More rows than this, and held shadows are counted by code instead of shown.
const ROWS: usize = 40;

/// What was fetched more recently than this is taken for what the remote has.
const FRESH: SignedDuration = SignedDuration::from_mins(10);

/// An answer and what goes beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The answer.
    pub text: String,
    /// What would help.
    pub hints: Vec<String>,
}

/// The report of a list, a dry run or a real run.
pub fn render(report: &Report, view: &View, canvas: &Canvas) -> Page {
    let list = report.command == "list";
    let mut page = Page::default();
    if view.summary {
        overview::render(&mut page.text, report, view.census.as_ref(), canvas);
    } else if list {
        sections(&mut page, report, view, canvas, |text, rows| {
            text.push_str(&table::render(rows, report.generated_at, canvas));
        });
    } else if report.dry_run {
        run::planned(&mut page, report, view, canvas);
    } else {
        run::done(&mut page, report, view, canvas);
    }
    if list {
        totals(&mut page, report, view);
        unresolved(&mut page, report, canvas);
        fetched(&mut page, report, canvas);
    }
    page
}

/// Each repository that has something to show, under a heading when there are several.
pub(super) fn sections(
    page: &mut Page,
    report: &Report,
    view: &View,
    canvas: &Canvas,
    body: impl Fn(&mut String, &[&ShadowReport]),
) {
    let shown = |repository: &'_ RepositoryReport| repository.shadows.iter().filter(|s| view.shows(s)).count();
    let whole = view.verbose || view.held || report.repositories.iter().map(shown).sum::<usize>() <= ROWS;
    for repository in &report.repositories {
        let all: Vec<&ShadowReport> = repository.shadows.iter().filter(|shadow| view.shows(shadow)).collect();
        if all.is_empty() {
            continue;
        }
        if report.repositories.len() > 1 {
            page.text.push_str(&format!("{}\n", canvas.ink(Ink::Bold, &canvas.path(&repository.path))));
        }
        let folds = |shadow: &&ShadowReport| {
            !whole && shadow.judgement.verdict == Verdict::Held && shadow.outcome().is_none() && !shadow.is_current()
        };
        let (folded, rows): (Vec<_>, Vec<_>) = all.into_iter().partition(folds);
        if !rows.is_empty() {
            body(&mut page.text, &rows);
        }
        if !folded.is_empty() {
            let more = if rows.iter().any(|row| row.judgement.verdict == Verdict::Held) { " more" } else { "" };
            let codes: Vec<String> = by_code(&folded).iter().map(|(code, number)| format!("{number} {code}")).collect();
            let how = if report.command == "list" { "--held shows" } else { "'git shadow list --held' shows" };
            page.text.push_str(&format!("… {}{more} held: {}; {how} them\n", folded.len(), codes.join(", ")));
        }
        if report.repositories.len() > 1 {
            page.text.push('\n');
        }
    }
}

/// How many shadows each first hold keeps, the most frequent first.
fn by_code(held: &[&ShadowReport]) -> Vec<(&'static str, usize)> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for shadow in held {
        let first = shadow.judgement.holds.first();
        *counts.entry(first.map_or("without a proof", |hold| hold.code.as_str())).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    counts
}

fn totals(page: &mut Page, report: &Report, view: &View) {
    let counts = Summary::of(report);
    if counts.shadows == 0 {
        return none(page, report);
    }
    let mut parts = vec![format!("{} to release", counts.release)];
    if counts.partial > 0 {
        parts.push(format!("{} in part", counts.partial));
    }
    parts.push(format!("{} held", counts.held));
    if view.all && counts.foreign > 0 {
        parts.push(format!("{} foreign", counts.foreign));
    }
    let shadows = words::count(counts.shadows, "shadow");
    let disk = view.census.as_ref().and_then(|census| census.disk).filter(|_| !view.summary);
    let disk = disk.map(|disk| format!("; {} in worktrees", words::disk(disk))).unwrap_or_default();
    page.text.push_str(&format!("{shadows}{}: {}{disk}\n", places(report), parts.join(", ")));
}

/// That there is no shadow; where something went wrong, that is said instead.
pub(super) fn none(page: &mut Page, report: &Report) {
    if report.repositories.is_empty() {
        return page.text.push_str("no repositories\n");
    }
    if report.repositories.iter().any(|repository| !repository.errors.is_empty()) {
        return;
    }
    page.text.push_str(&format!("no shadows{}", places(report)));
    match Summary::of(report).foreign {
        0 => {}
        foreign => {
            page.text.push_str(&format!("; {} that policy does not name", words::count(foreign, "other")));
            let detect =
                "'git shadow init --detect' proposes patterns for what is there; a .shadowrc names them in 'shadows'";
            page.hints.push(detect.into());
            page.hints.push("'git shadow list --all' shows all that is there".into());
        }
    }
    page.text.push('\n');
}

fn places(report: &Report) -> String {
    match report.repositories.len() {
        0 | 1 => String::new(),
        number => format!(" in {}", words::count(number, "repository")),
    }
}

/// That no base can be told holds everything, and is easily overlooked behind what else holds.
pub(super) fn unresolved(page: &mut Page, report: &Report, canvas: &Canvas) {
    let ours = |shadow: &ShadowReport| shadow.judgement.verdict != Verdict::Foreign;
    for repository in report.repositories.iter().filter(|repository| repository.shadows.iter().any(ours)) {
        let Some(error) = repository.facts.bases.error() else { continue };
        let place = match report.repositories.len() {
            0 | 1 => String::new(),
            _ => format!("'{}': ", canvas.path(&repository.path)),
        };
        page.hints.push(format!("{place}{error}"));
    }
}

/// Stale knowledge must not read like a verdict on what the remote has by now. A fetch of the last minutes is not stale.
pub(super) fn fetched(page: &mut Page, report: &Report, canvas: &Canvas) {
    let waits = |shadow: &ShadowReport| {
        let holds = &shadow.judgement.holds;
        shadow.judgement.verdict != Verdict::Foreign
            && holds
                .iter()
                .any(|hold| matches!(hold.code, Code::Unlanded | Code::Unpushed | Code::UnpushedHead | Code::Partial))
    };
    let oldest = report
        .repositories
        .iter()
        .filter(|repository| repository.shadows.iter().any(waits))
        .flat_map(|repository| repository.facts.bases.known().into_iter().flatten().map(move |base| (repository, base)))
        .filter(|(_, base)| base.name.starts_with(b"refs/remotes/"))
        .filter(|(_, base)| base.fetched_at.is_none_or(|at| report.generated_at.duration_since(at) >= FRESH))
        .min_by_key(|(_, base)| base.fetched_at);
    let Some((repository, base)) = oldest else { return };
    let place = match report.repositories.len() {
        0 | 1 => String::new(),
        _ => format!(" of '{}'", canvas.path(&repository.path)),
    };
    let when = base.fetched_at.map_or("at an unknown time".into(), |at| ago(at, report.generated_at));
    page.hints.push(format!(
        "base '{}'{place} last fetched {when}; 'git shadow prune-sessions --fetch' looks again",
        words::short_ref(base.name.as_bstr())
    ));
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    words::ago(now.duration_since(at))
}
