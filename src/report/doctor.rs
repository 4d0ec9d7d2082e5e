//! `git-shadow.doctor.v1` and its forms for people and scripts: what is not as it should be.

use std::path::PathBuf;

use serde::Serialize;

use super::human::Page;
use super::json::{ErrorJson, error, path_text, text, written};
use super::porcelain::Lines;
use super::words::count;
use crate::error::{Error, Exit};
use crate::model::{Finding, Outcome, Trouble};
use crate::ui::{Canvas, Ink, safe_lossy};

/// What was found in one repository.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The main worktree, else the repository.
    pub path: PathBuf,
    /// In the order of their codes.
    pub findings: Vec<Finding>,
    /// What could not be looked at, or went wrong.
    pub errors: Vec<Error>,
}

/// What was found in all of them.
#[derive(Debug, Clone)]
pub struct Examination {
    /// Nothing was changed.
    pub dry_run: bool,
    /// In the order of their paths.
    pub repositories: Vec<Examined>,
    /// The operation that can be undone, when something was set right by one.
    pub operation: Option<String>,
}

impl Examination {
    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.repositories.iter().flat_map(|repository| &repository.findings)
    }

    /// 0: nothing is wrong any more; 1: something is; 2: something could not be looked at, failed or raced.
    pub fn exit(&self) -> Exit {
        let bad = |finding: &Finding| matches!(finding.outcome, Some(Outcome::Failed | Outcome::Raced));
        if self.repositories.iter().any(|one| !one.errors.is_empty()) || self.findings().any(bad) {
            Exit::Failed
        } else if self.findings().all(Finding::is_fixed) {
            Exit::Done
        } else {
            Exit::No
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    dry_run: bool,
    repositories: Vec<RepositoryJson<'a>>,
    operation: Option<&'a str>,
}

#[derive(Serialize)]
struct RepositoryJson<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    findings: Vec<FindingJson<'a>>,
    errors: Vec<ErrorJson<'a>>,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    code: &'static str,
    message: &'a str,
    remedy: Option<&'a str>,
    fixable: bool,
    step: Option<&'static str>,
    outcome: Option<&'static str>,
    detail: Option<&'a str>,
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    r#ref: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ref_hex: Option<String>,
}

/// As JSON, with a line end.
pub fn json(examination: &Examination) -> Vec<u8> {
    let repositories = examination.repositories.iter().map(|one| {
        let (path, path_hex) = path_text(&one.path);
        let findings = one.findings.iter().map(finding).collect();
        RepositoryJson { path, path_hex, findings, errors: one.errors.iter().map(error).collect() }
    });
    let document = Document {
        schema: "git-shadow.doctor.v1",
        dry_run: examination.dry_run,
        repositories: repositories.collect(),
        operation: examination.operation.as_deref(),
    };
    written(&document)
}

fn finding(finding: &Finding) -> FindingJson<'_> {
    let (path, path_hex) = finding.path.as_deref().map(path_text).unzip();
    let (name, ref_hex) = finding.name.as_ref().map(|name| text(name)).unzip();
    FindingJson {
        code: finding.code.as_str(),
        message: &finding.message,
        remedy: finding.remedy.as_deref(),
        fixable: finding.step.is_some(),
        step: finding.step.map(|step| step.as_str()),
        outcome: finding.outcome.map(|outcome| outcome.as_str()),
        detail: finding.detail.as_deref(),
        path,
        path_hex: path_hex.flatten(),
        r#ref: name,
        ref_hex: ref_hex.flatten(),
    }
}

/// For scripts: a `repository` record each (`error <code> <message>`, several), behind it a `finding` record each
/// (`message`, `path`, `ref`, `remedy`, `step`, `outcome`, `detail`, as far as there is one); an empty line ends a record.
pub fn porcelain(examination: &Examination, nul: bool) -> Vec<u8> {
    let mut lines = Lines { bytes: Vec::new(), nul };
    for one in &examination.repositories {
        lines.name("repository", one.path.as_os_str().as_encoded_bytes());
        one.errors.iter().for_each(|error| lines.error(error));
        lines.end();
        for finding in &one.findings {
            lines.text("finding", finding.code.as_str());
            lines.name("message", finding.message.as_bytes());
            finding.path.iter().for_each(|path| lines.name("path", path.as_os_str().as_encoded_bytes()));
            finding.name.iter().for_each(|name| lines.name("ref", name));
            finding.remedy.iter().for_each(|remedy| lines.name("remedy", remedy.as_bytes()));
            finding.step.iter().for_each(|step| lines.text("step", step.as_str()));
            finding.outcome.iter().for_each(|outcome| lines.text("outcome", outcome.as_str()));
            finding.detail.iter().for_each(|detail| lines.name("detail", detail.as_bytes()));
            lines.end();
        }
    }
    lines.bytes
}

/// For people.
pub fn human(examination: &Examination, canvas: &Canvas) -> Page {
    let mut page = Page::default();
    let several = examination.repositories.len() > 1;
    for one in examination.repositories.iter().filter(|one| !one.findings.is_empty()) {
        if several {
            page.text.push_str(&format!("{}\n", canvas.ink(Ink::Bold, &canvas.path(&one.path))));
        }
        one.findings.iter().for_each(|finding| show(&mut page.text, finding, canvas));
        if several {
            page.text.push('\n');
        }
    }
    totals(&mut page, examination);
    page
}

fn show(text: &mut String, finding: &Finding, canvas: &Canvas) {
    let (ink, state) = match finding.outcome {
        Some(Outcome::Done) => (Ink::Green, " [fixed]".into()),
        Some(Outcome::Failed | Outcome::Raced) => (Ink::Red, format!(" [{}]", outcome(finding))),
        Some(Outcome::Would | Outcome::Pending) => (Ink::Yellow, format!(" [{}]", outcome(finding))),
        None => (Ink::Yellow, String::new()),
    };
    let code = canvas.ink(ink, finding.code.as_str());
    text.push_str(&format!("{code}{state}: {}\n", safe_lossy(&finding.message)));
    if let Some(detail) = &finding.detail {
        text.push_str(&format!("    {}\n", safe_lossy(detail)));
    }
    if let Some(remedy) = finding.remedy.as_ref().filter(|_| !finding.is_fixed()) {
        text.push_str(&format!("    {}\n", canvas.ink(Ink::Cyan, &safe_lossy(remedy))));
    }
}

fn outcome(finding: &Finding) -> &'static str {
    match finding.outcome {
        Some(Outcome::Would) => "would be fixed",
        Some(outcome) => outcome.as_str(),
        None => "",
    }
}

fn totals(page: &mut Page, examination: &Examination) {
    let places = match examination.repositories.len() {
        0 => return page.text.push_str("no repositories\n"),
        1 => String::new(),
        number => format!(" in {}", count(number, "repository")),
    };
    let all = examination.findings().count();
    let number = |wanted: fn(&Finding) -> bool| examination.findings().filter(|finding| wanted(finding)).count();
    let (fixed, open) = (number(Finding::is_fixed), number(|one| one.step.is_some() && one.outcome.is_none()));
    let looked = examination.repositories.iter().all(|one| one.errors.is_empty());
    match (all, fixed) {
        (0, _) if looked => page.text.push_str(&format!("no findings{places}\n")),
        (0, _) => {}
        (_, 0) => page.text.push_str(&format!("{}{places}\n", count(all, "finding"))),
        _ => page.text.push_str(&format!("{}{places}, {fixed} fixed\n", count(all, "finding"))),
    }
    if open > 0 {
        page.hints
            .push(format!("'git shadow doctor --fix' sets {open} of them right; 'git shadow undo' takes it back"));
    }
    if examination.operation.is_some() {
        page.hints.push("'git shadow undo' takes it back".into());
    }
}

/// The codes with what they mean, for the help.
pub fn codes() -> String {
    let line = |code: &Trouble| format!("  {:16} {}\n", code.as_str(), code.about());
    format!("Codes:\n{}", Trouble::ALL.iter().map(line).collect::<String>())
}
