//! For people: everything behind one verdict.

mod facts;
mod policy;
mod rules;

use gix::bstr::ByteSlice as _;

use super::human::Page;
use super::{Report, RepositoryReport, ShadowReport, words};
use crate::judge::Judgement;
use crate::model::{Fact, Head, How, Landed, Landing, LeaseState, Timestamp, Verdict};
use crate::policy::Policy;
use crate::ui::{Canvas, Ink, safe, safe_lossy, safe_path};

/// What is known of one shadow, every rule, the proof, and the policy it was judged by.
pub fn render(
    report: &Report,
    repository: &RepositoryReport,
    shadow: &ShadowReport,
    policy: &Policy,
    canvas: &Canvas,
) -> Page {
    let mut sheet = Sheet { text: String::new(), canvas };
    let judgement = &shadow.judgement;
    head(&mut sheet, shadow, report.generated_at);
    holds(&mut sheet, judgement);
    going(&mut sheet, shadow);
    sheet.heading("proof");
    for line in proof(judgement) {
        sheet.line(&line);
    }
    bases(&mut sheet, repository, report.generated_at);
    facts::render(&mut sheet, judgement, &repository.facts);
    sheet.heading("rules");
    rules::render(&mut sheet, judgement, &repository.facts);
    sheet.heading("policy");
    policy::render(&mut sheet, policy);
    let mut page = Page { text: sheet.text, hints: Vec::new() };
    super::human::fetched(&mut page, report, canvas);
    page
}

/// Headings and rows under way.
struct Sheet<'a> {
    text: String,
    canvas: &'a Canvas,
}

impl Sheet<'_> {
    fn heading(&mut self, text: &str) {
        self.text.push_str(&format!("\n{}\n", self.canvas.ink(Ink::Bold, text)));
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(&format!("  {}\n", self.canvas.hang(text, 2)));
    }

    fn row(&mut self, label: &str, value: &str) {
        let value = self.canvas.hang(value, 26);
        self.text.push_str(format!("  {label:22}  {value}").trim_end());
        self.text.push('\n');
    }
}

fn head(sheet: &mut Sheet<'_>, shadow: &ShadowReport, now: Timestamp) {
    let judgement = &shadow.judgement;
    let evidence = &judgement.evidence;
    let verdict = sheet.canvas.ink(super::table::ink(judgement.verdict), judgement.verdict.as_str());
    let name = sheet.canvas.ink(Ink::Bold, &words::name(judgement));
    sheet.text.push_str(&format!("{name}: {verdict}, {}\n", words::why(shadow)));
    if let Some(branch) = &evidence.shadow.branch {
        let tip = branch.tip.map_or("at nothing".into(), |tip| format!("at {tip}"));
        sheet.row("branch", &format!("{} {tip}", safe(&branch.name)));
    }
    if let Some(worktree) = &evidence.shadow.worktree {
        let place = worktree.path.as_deref().map_or("unknown".into(), safe_path);
        sheet.row("worktree", &place);
        sheet.row("registration", &safe_path(&worktree.git_dir));
        sheet.row("HEAD", &head_words(&worktree.head));
    }
    let age = match (&evidence.age, shadow.age(now)) {
        (Fact::Known(age), Some(passed)) => {
            let since = age.newest.map(super::json::instant).unwrap_or_default();
            format!("{}, nothing since {since}", words::age(Some(passed)))
        }
        (Fact::Known(_), None) => "no sign of activity is known; counts from the first real run that sees it".into(),
        (Fact::Unknown(error), _) => format!("unknown: {}", safe_lossy(error)),
        (Fact::NotApplicable | Fact::NotAsked, _) => "not asked".into(),
    };
    sheet.row("age", &age);
    if let Some(at) = judgement.eligible_at {
        sheet.row("may go from", &super::json::instant(at));
    }
    sheet.row("lease", &lease(judgement));
    if let Some(pending) = &evidence.pending {
        let work = match pending.work {
            crate::model::PendingWork::Restore => "puts it back, then judges it",
            crate::model::PendingWork::Finish => "finishes its release",
        };
        sheet.row("interrupted", &format!("operation {}; the next real run {work}", safe_lossy(&pending.operation)));
    }
}

fn head_words(head: &Head) -> String {
    match head {
        Head::Branch(name, Some(commit)) => format!("{} at {commit}", safe(name)),
        Head::Branch(name, None) => format!("{}, no commit yet", safe(name)),
        Head::Detached(commit) => format!("detached at {commit}"),
        Head::Broken(error) => format!("cannot be read: {}", safe_lossy(error)),
    }
}

fn lease(judgement: &Judgement) -> String {
    match &judgement.evidence.lease {
        Fact::Known(None) => "none names it".into(),
        Fact::Known(Some(lease)) => {
            // A foreign lease says 0, or less, when there is no process.
            let process = lease.pid.filter(|pid| *pid > 0).map(|pid| format!(", process {pid}")).unwrap_or_default();
            let state = match &lease.state {
                LeaseState::Live(how) => format!("live: {}", safe_lossy(how)),
                LeaseState::Dead if process.is_empty() => "no process".into(),
                LeaseState::Dead => "its process is provably gone".into(),
                LeaseState::Released => "released".into(),
            };
            let finished =
                lease.finished.map(|at| format!(", finished {}", super::json::instant(at))).unwrap_or_default();
            format!("{} ({}){process}, {state}{finished}", safe_lossy(&lease.id), safe_lossy(&lease.format))
        }
        Fact::Unknown(error) => format!("unknown: {}", safe_lossy(error)),
        Fact::NotApplicable | Fact::NotAsked => "not asked".into(),
    }
}

fn holds(sheet: &mut Sheet<'_>, judgement: &Judgement) {
    if judgement.holds.is_empty() {
        return;
    }
    sheet.heading("kept because");
    for hold in &judgement.holds {
        sheet.row(&format!("{} ({})", hold.code, hold.on.as_str()), &safe_lossy(&hold.message));
        if let Some(remedy) = &hold.remedy {
            sheet.row("", &format!("what helps: {}", safe_lossy(remedy)));
        }
    }
}

fn going(sheet: &mut Sheet<'_>, shadow: &ShadowReport) {
    sheet.heading("what a real run would do");
    let lines = super::run::actions(shadow, sheet.canvas);
    if lines.is_empty() {
        let nothing = match shadow.judgement.verdict {
            Verdict::Foreign => "nothing, it is not a session's by policy",
            Verdict::Release | Verdict::Partial | Verdict::Held => "nothing",
        };
        sheet.line(nothing);
    }
    for (verb, object) in lines {
        sheet.row(verb, &object);
    }
}

fn proof(judgement: &Judgement) -> Vec<String> {
    let evidence = &judgement.evidence;
    let tip = words::tip(judgement).map_or("its tip".into(), words::short);
    let landing = match (&evidence.branch, &evidence.worktree) {
        (Some(branch), _) => &branch.landing,
        (None, Some(worktree)) => &worktree.head_landing,
        (None, None) => &Fact::NotApplicable,
    };
    match landing {
        Fact::Known(landing) => in_words(landing, &tip),
        Fact::Unknown(error) => vec![format!("unknown: {}", safe_lossy(error))],
        Fact::NotApplicable => vec!["does not apply: there is no work to look for".into()],
        Fact::NotAsked => vec!["not asked".into()],
    }
}

fn in_words(landing: &Landing, tip: &str) -> Vec<String> {
    match landing {
        Landing::Landed(proof) => vec![landed(proof, tip)],
        Landing::Reverted { landed: proof, by } => {
            let by = by.map_or("the base has every path as it was before".into(), |by| {
                format!("undone by {by}, which says so, and not landed again")
            });
            vec![landed(proof, tip), by]
        }
        Landing::Partial { landed, missing } => {
            let list = |ids: &[gix::ObjectId]| ids.iter().map(|id| words::short(*id)).collect::<Vec<_>>().join(" ");
            vec![format!("landed: {}", list(landed)), format!("not landed: {}", list(missing))]
        }
        Landing::Unproven => vec![format!("no commit of a base is shown to have the work of {tip}")],
        Landing::CutOff => vec!["history is cut off (a shallow clone) before a proof was found".into()],
    }
}

fn landed(proof: &Landed, tip: &str) -> String {
    let (base, commit) = (words::short_ref(proof.base.as_bstr()), proof.commit);
    match proof.how {
        How::Ancestor if commit.to_string().starts_with(tip) => format!("{tip} is reachable from {base}"),
        How::Ancestor => format!("{tip} is reachable from {base}; {commit} brought it there"),
        How::Squash => format!("merging {tip} into the parent of {commit} on {base} gives exactly that commit's tree"),
        How::Rebase => {
            format!("every commit up to {tip}, replayed on {base}, gives the tree of one there; the last is {commit}")
        }
        How::Contained => format!("merging {tip} into {commit} on {base} changes nothing of it"),
    }
}

fn bases(sheet: &mut Sheet<'_>, repository: &RepositoryReport, now: Timestamp) {
    sheet.heading("bases");
    match &repository.facts.bases {
        Fact::Known(bases) if bases.is_empty() => sheet.line("none"),
        Fact::Known(bases) => {
            for base in bases {
                let fetched = match base.fetched_at {
                    Some(at) => format!(", last fetched {}", words::ago(now.duration_since(at))),
                    None if base.name.starts_with(b"refs/remotes/") => ", last fetched at an unknown time".into(),
                    None => String::new(),
                };
                sheet.line(&format!("{} at {}{fetched}", safe(&base.name), words::short(base.tip)));
            }
        }
        Fact::Unknown(error) => sheet.line(&format!("unresolved: {}", safe_lossy(error))),
        Fact::NotApplicable | Fact::NotAsked => sheet.line("not asked"),
    }
}
