//! The census for people: how many there are, what can go and why, what each code holds back, where most of it lies.

use std::collections::BTreeMap;

use super::census::Heavy;
use super::{Census, Report, words};
use crate::model::{Code, Verdict};
use crate::ui::{Canvas, Ink, safe};

/// All of it; the totals come after it.
pub(super) fn render(text: &mut String, report: &Report, census: Option<&Census>, canvas: &Canvas) {
    if let Some(census) = census {
        counts(text, report, census, canvas);
    }
    going(text, report);
    keeping(text, report);
    if let Some(census) = census {
        heaviest(text, &census.heaviest, canvas);
    }
}

fn counts(text: &mut String, report: &Report, census: &Census, canvas: &Canvas) {
    let Census { repositories, failed, branches, registrations, checked_out, created_last_hour, .. } = *census;
    let mut line = |number: String, what: String| text.push_str(&format!("{number:>9}  {what}\n"));
    let mut counted = |number: usize, one: &str, more: &str| line(number.to_string(), words::noun(number, one) + more);
    counted(repositories, "repository", &if failed > 0 { format!(", {failed} of them failed") } else { String::new() });
    counted(branches, "branch", &format!(", {} of them shadows'", census.shadow_branches));
    let mut states = vec![format!("{} present", census.present)];
    let other = [("purged", census.purged), ("missing", census.missing)];
    states.extend(other.into_iter().filter(|(_, n)| *n > 0).map(|(state, n)| format!("{n} {state}")));
    let states = format!(", {} of them shadows': {}", census.shadow_worktrees, states.join(", "));
    counted(registrations, "registered worktree", &states);
    counted(checked_out, "shadow", " with a checked-out branch");
    counted(created_last_hour, "shadow", &format!(" created in the last hour{}", oldest(report, census, canvas)));
    if let (Some(disk), Some(release)) = (census.disk, census.release_disk) {
        line(words::disk(disk), format!("in shadows' worktrees, {} of it in those to release", words::disk(release)));
    }
}

fn oldest(report: &Report, census: &Census, canvas: &Canvas) -> String {
    let Some(oldest) = &census.oldest else { return String::new() };
    let age = words::age(Some(report.generated_at.duration_since(oldest.created)));
    let place = match census.repositories {
        0 | 1 => String::new(),
        _ => format!(" in '{}'", canvas.path(&oldest.repository)),
    };
    let unknown = match census.created_unknown {
        0 => String::new(),
        number => format!(", {number} at a time that nothing tells"),
    };
    format!("{unknown}; the oldest {age} ago: {}{place}", safe(&oldest.name))
}

fn going(text: &mut String, report: &Report) {
    let shadows = report.repositories.iter().flat_map(|repository| &repository.shadows);
    let mut going: BTreeMap<&str, usize> = BTreeMap::new();
    for because in shadows.filter_map(|shadow| shadow.judgement.because) {
        *going.entry(because.as_str()).or_default() += 1;
    }
    if !going.is_empty() {
        text.push_str("to release, because\n");
        going.iter().for_each(|(because, number)| text.push_str(&format!("{number:7}  {because}\n")));
    }
}

fn keeping(text: &mut String, report: &Report) {
    let shadows = report.repositories.iter().flat_map(|repository| &repository.shadows);
    let mut keeping: BTreeMap<Code, (usize, usize)> = BTreeMap::new();
    for shadow in shadows.filter(|shadow| shadow.judgement.verdict == Verdict::Held) {
        let codes: Vec<Code> = shadow.judgement.holds.iter().map(|hold| shown_as(hold.code)).collect();
        for (n, code) in codes.iter().enumerate().filter(|(n, code)| !codes[..*n].contains(code)) {
            let (first, any) = keeping.entry(*code).or_default();
            *first += usize::from(n == 0);
            *any += 1;
        }
    }
    if !keeping.is_empty() {
        text.push_str("held, by the first reason and by any\n");
        for (code, (first, any)) in &keeping {
            text.push_str(&format!("{first:7} {any:7}  {:15}  {}\n", code.as_str(), code.summary()));
        }
    }
}

/// Of the codes that users see as one, the first.
fn shown_as(code: Code) -> Code {
    Code::ALL.iter().copied().find(|one| one.as_str() == code.as_str()).unwrap_or(code)
}

fn heaviest(text: &mut String, heaviest: &[Heavy], canvas: &Canvas) {
    if heaviest.len() < 2 {
        return;
    }
    let measured = heaviest.iter().any(|heavy| heavy.disk.is_some());
    let disk = |cell: &str| if measured { format!("  {cell:>9}") } else { String::new() };
    text.push_str("most are in\n");
    let head = format!("SHADOWS  WORKTREES  RELEASE{}  REPOSITORY", disk("DISK"));
    text.push_str(&format!("{}\n", canvas.ink(Ink::Dim, &head)));
    for heavy in heaviest {
        let Heavy { shadows, worktrees, release, .. } = heavy;
        let size = disk(&heavy.disk.map(words::disk).unwrap_or_default());
        let place = canvas.path(&heavy.path);
        text.push_str(&format!("{shadows:7}  {worktrees:9}  {release:7}{size}  {place}\n"));
    }
}
