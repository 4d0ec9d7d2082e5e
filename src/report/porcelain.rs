//! For scripts: a label a line, a blank line ends a record, in the manner of `git worktree list --porcelain`. Names
//! and texts are quoted as git quotes them; with `-z` lines end with NUL instead, and nothing is quoted. New labels may
//! be added, so skip those you do not know. A line without a value is a boolean that is true.
//!
//! | record | labels, in this order |
//! |---|---|
//! | `repository <path>` | `common-dir <path>`, `bare`, `base <oid> <ref>` (several), `error <code> <message>` (several) |
//! | `shadow <name>` | `verdict <release\|partial\|held\|foreign>`, `because <word>`, `age <seconds>`, `eligible <time>`, `branch <ref>`, `tip <oid>`, `landed <how> <commit> <ref>`, `worktree <path>`, `registration <id>`, `state <word>`, `bytes <n>`, `bytes-incomplete`, `head <oid>`, `current`, `lease <live\|dead\|released> <id>`, `hold <code> <on> <message>` (several), `step <step> <outcome> [<detail>]` (several) |
//! | `session-root <path>` | `verdict <release\|held>`, `hold …` |
//! | `census` (with `--summary` or `--disk`) | `repositories <n>`, `branches <n>`, `registrations <n>`, `shadow-branches <n>`, `shadow-worktrees <n>`, `checked-out <n>`, `created-last-hour <n>`, `bytes <n>`, `bytes-incomplete` |
//! | `run <command>` | `dry-run`, `operation <id>`, `shadows <n>`, `release <n>`, `partial <n>`, `held <n>`, `foreign <n>`, `released <n>`, `raced <n>`, `failed <n>`, `pending <n>` |
//!
//! The shadows of a repository follow its record; `run` is the last one. Names come last on their line.

use std::path::Path;

use super::json::{instant, state};
use super::{Census, Report, RepositoryReport, ShadowReport, Summary, View};
use crate::error::Error;
use crate::model::{Disk, Fact, Half, Hold, Landing, Timestamp};
use crate::ui::quoted;

/// The records.
pub fn render(report: &Report, view: &View, nul: bool) -> Vec<u8> {
    let mut lines = Lines { bytes: Vec::new(), nul };
    for repository in &report.repositories {
        repository_record(&mut lines, repository);
        for shadow in repository.shadows.iter().filter(|shadow| view.shows(shadow)) {
            shadow_record(&mut lines, shadow, report.generated_at);
        }
    }
    for root in &report.session_roots {
        lines.name("session-root", bytes(&root.path));
        lines.text("verdict", if root.holds.is_empty() { Half::Release } else { Half::Held }.as_str());
        root.holds.iter().for_each(|hold| lines.hold(hold));
        lines.end();
    }
    if let Some(census) = &view.census {
        census_record(&mut lines, census);
    }
    run_record(&mut lines, report);
    lines.bytes
}

pub(super) struct Lines {
    pub(super) bytes: Vec<u8>,
    pub(super) nul: bool,
}

impl Lines {
    pub(super) fn end(&mut self) {
        self.bytes.push(if self.nul { 0 } else { b'\n' });
    }

    pub(super) fn text(&mut self, label: &str, value: &str) {
        self.bytes.extend_from_slice(label.as_bytes());
        if !value.is_empty() {
            self.bytes.push(b' ');
            self.bytes.extend_from_slice(value.as_bytes());
        }
        self.end();
    }

    /// A value with bytes of any kind; `label` may hold values that come before it.
    pub(super) fn name(&mut self, label: &str, name: &[u8]) {
        self.bytes.extend_from_slice(label.as_bytes());
        self.bytes.push(b' ');
        if self.nul {
            // A NUL can be in no name; in a message it would end the line.
            self.bytes.extend(name.iter().map(|byte| if *byte == 0 { b' ' } else { *byte }));
        } else {
            self.bytes.extend_from_slice(quoted(name).as_bytes());
        }
        self.end();
    }

    pub(super) fn error(&mut self, error: &Error) {
        self.name(&format!("error {}", error.code), error.message.as_bytes());
    }

    fn disk(&mut self, disk: &Disk) {
        self.text("bytes", &disk.bytes.to_string());
        if !disk.complete {
            self.text("bytes-incomplete", "");
        }
    }

    fn hold(&mut self, hold: &Hold) {
        self.name(&format!("hold {} {}", hold.code, hold.on.as_str()), hold.message.as_bytes());
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

fn repository_record(lines: &mut Lines, repository: &RepositoryReport) {
    lines.name("repository", bytes(&repository.path));
    lines.name("common-dir", bytes(&repository.common_dir));
    if repository.bare {
        lines.text("bare", "");
    }
    for base in repository.facts.bases.known().into_iter().flatten() {
        lines.name(&format!("base {}", base.tip), &base.name);
    }
    repository.errors.iter().for_each(|error| lines.error(error));
    lines.end();
}

fn shadow_record(lines: &mut Lines, report: &ShadowReport, now: Timestamp) {
    let judgement = &report.judgement;
    let evidence = &judgement.evidence;
    lines.name("shadow", &evidence.shadow.name);
    lines.text("verdict", judgement.verdict.as_str());
    if let Some(because) = judgement.because {
        lines.text("because", because.as_str());
    }
    if let Some(age) = report.age(now) {
        lines.text("age", &age.as_secs().to_string());
    }
    if let Some(at) = judgement.eligible_at {
        lines.text("eligible", &instant(at));
    }
    if let Some(branch) = &evidence.shadow.branch {
        lines.name("branch", &branch.name);
        if let Some(tip) = branch.tip {
            lines.text("tip", &tip.to_string());
        }
    }
    if let Some(Fact::Known(Landing::Landed(landed))) = evidence.branch.as_ref().map(|facts| &facts.landing) {
        lines.name(&format!("landed {} {}", landed.how.as_str(), landed.commit), &landed.base);
    }
    worktree_lines(lines, report);
    if let Some(lease) = evidence.lease.known().and_then(Option::as_ref) {
        lines.name(&format!("lease {}", lease.state.as_str()), lease.id.as_bytes());
    }
    judgement.holds.iter().for_each(|hold| lines.hold(hold));
    for step in &report.steps {
        let label = format!("step {} {}", step.step.as_str(), step.outcome.as_str());
        match &step.detail {
            Some(detail) => lines.name(&label, detail.as_bytes()),
            None => lines.text(&label, ""),
        }
    }
    lines.end();
}

fn worktree_lines(lines: &mut Lines, report: &ShadowReport) {
    let evidence = &report.judgement.evidence;
    let Some(registration) = &evidence.shadow.worktree else { return };
    if let Some(path) = &registration.path {
        lines.name("worktree", bytes(path));
    }
    lines.name("registration", &registration.id);
    lines.text("state", state(evidence.worktree.as_ref().map(|facts| &facts.place)));
    report.disk.iter().for_each(|disk| lines.disk(disk));
    if let Some(head) = registration.head.commit() {
        lines.text("head", &head.to_string());
    }
    if report.is_current() {
        lines.text("current", "");
    }
}

fn census_record(lines: &mut Lines, census: &Census) {
    lines.text("census", "");
    for (label, count) in [
        ("repositories", census.repositories),
        ("branches", census.branches),
        ("registrations", census.registrations),
        ("shadow-branches", census.shadow_branches),
        ("shadow-worktrees", census.shadow_worktrees),
        ("checked-out", census.checked_out),
        ("created-last-hour", census.created_last_hour),
    ] {
        lines.text(label, &count.to_string());
    }
    census.disk.iter().for_each(|disk| lines.disk(disk));
    lines.end();
}

fn run_record(lines: &mut Lines, report: &Report) {
    lines.text("run", report.command);
    if report.dry_run {
        lines.text("dry-run", "");
    }
    if let Some(operation) = &report.operation {
        lines.text("operation", operation);
    }
    let counts = Summary::of(report);
    for (label, count) in [
        ("shadows", counts.shadows),
        ("release", counts.release),
        ("partial", counts.partial),
        ("held", counts.held),
        ("foreign", counts.foreign),
        ("released", counts.released),
        ("raced", counts.raced),
        ("failed", counts.failed),
        ("pending", counts.pending),
    ] {
        lines.text(label, &count.to_string());
    }
    lines.end();
}
