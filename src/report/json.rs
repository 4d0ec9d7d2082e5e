//! `git-shadow.report.v1`. Every field is always there and null where nothing is known; only the `…_hex` ones are
//! there when, and only when, the text beside them is not all of the name, because it is no UTF-8. Unknown counts are
//! null, never 0. Only additions within v1.

mod census;

use std::path::Path;

use gix::bstr::ByteSlice as _;
use serde::Serialize;

use self::census::{CensusJson, DiskJson};
use super::{Report, RepositoryReport, SessionRoot, ShadowReport, Summary, View};
use crate::error::Error;
use crate::model::{
    Base, Branch, BranchFacts, Disk, Fact, Half, Head, Hold, Landed, Landing, Lease, Place, Registration, StepReport,
    Timestamp, WorktreeFacts,
};

/// The document, with a line end.
pub fn render(report: &Report, view: &View) -> Vec<u8> {
    let document = Document {
        schema: "git-shadow.report.v1",
        command: report.command,
        dry_run: report.dry_run,
        generated_at: instant(report.generated_at),
        repositories: report.repositories.iter().map(|r| repository(r, view, report.generated_at)).collect(),
        session_roots: report.session_roots.iter().map(session_root).collect(),
        summary: Summary::of(report),
        census: view.census.as_ref().map(|counted| census::census(counted, report.generated_at)),
        operation: report.operation.as_deref(),
    };
    written(&document)
}

/// A document as every answer is written, with a line end.
pub fn written(document: &impl Serialize) -> Vec<u8> {
    // Strings, numbers and lists of them cannot fail to be written to memory.
    let mut text = serde_json::to_vec_pretty(document).unwrap_or_default();
    text.push(b'\n');
    text
}

/// RFC 3339, UTC, whole seconds.
pub fn instant(at: Timestamp) -> String {
    format!("{at:.0}")
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    command: &'static str,
    dry_run: bool,
    generated_at: String,
    repositories: Vec<RepositoryJson<'a>>,
    session_roots: Vec<SessionRootJson<'a>>,
    summary: Summary,
    census: Option<CensusJson>,
    operation: Option<&'a str>,
}

#[derive(Serialize)]
struct RepositoryJson<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    common_dir: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    common_dir_hex: Option<String>,
    bare: bool,
    bases: Vec<BaseJson>,
    shadows: Vec<ShadowJson<'a>>,
    errors: Vec<ErrorJson<'a>>,
}

#[derive(Serialize)]
struct BaseJson {
    #[serde(rename = "ref")]
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ref_hex: Option<String>,
    oid: String,
    fetched_at: Option<String>,
}

#[derive(Serialize)]
struct ShadowJson<'a> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    verdict: &'static str,
    because: Option<&'static str>,
    age_s: Option<i64>,
    eligible_at: Option<String>,
    branch: Option<BranchJson>,
    worktree: Option<WorktreeJson>,
    lease: Option<LeaseJson<'a>>,
    holds: Vec<HoldJson<'a>>,
    steps: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
struct BranchJson {
    #[serde(rename = "ref")]
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ref_hex: Option<String>,
    tip: Option<String>,
    verdict: &'static str,
    own_commits: Option<usize>,
    unpushed: Option<usize>,
    landed: Option<LandedJson>,
}

#[derive(Serialize)]
struct LandedJson {
    how: &'static str,
    commit: String,
    base: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_hex: Option<String>,
}

#[derive(Serialize)]
struct WorktreeJson {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_hex: Option<String>,
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    state: &'static str,
    head: Option<String>,
    branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_hex: Option<String>,
    verdict: &'static str,
    #[serde(flatten)]
    disk: DiskJson,
}

#[derive(Serialize)]
struct LeaseJson<'a> {
    id: &'a str,
    format: &'a str,
    pid: Option<i64>,
    live: bool,
    finished: Option<String>,
}

#[derive(Serialize)]
struct HoldJson<'a> {
    code: &'static str,
    on: &'static str,
    message: &'a str,
    remedy: Option<&'a str>,
}

#[derive(Serialize)]
struct StepJson<'a> {
    step: &'static str,
    outcome: &'static str,
    detail: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct ErrorJson<'a> {
    code: &'static str,
    message: &'a str,
    remedy: Option<&'a str>,
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
}

#[derive(Serialize)]
struct SessionRootJson<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    verdict: &'static str,
    holds: Vec<HoldJson<'a>>,
}

fn repository<'a>(report: &'a RepositoryReport, view: &View, now: Timestamp) -> RepositoryJson<'a> {
    let (path, path_hex) = path_text(&report.path);
    let (common_dir, common_dir_hex) = path_text(&report.common_dir);
    RepositoryJson {
        path,
        path_hex,
        common_dir,
        common_dir_hex,
        bare: report.bare,
        bases: report.facts.bases.known().into_iter().flatten().map(base).collect(),
        shadows: report.shadows.iter().filter(|s| view.shows(s)).map(|s| shadow(s, now)).collect(),
        errors: report.errors.iter().map(error).collect(),
    }
}

fn base(base: &Base) -> BaseJson {
    let (name, ref_hex) = text(&base.name);
    BaseJson { name, ref_hex, oid: base.tip.to_string(), fetched_at: base.fetched_at.map(instant) }
}

fn shadow(report: &ShadowReport, now: Timestamp) -> ShadowJson<'_> {
    let judgement = &report.judgement;
    let evidence = &judgement.evidence;
    let (name, name_hex) = text(&evidence.shadow.name);
    ShadowJson {
        name,
        name_hex,
        verdict: judgement.verdict.as_str(),
        because: judgement.because.map(|because| because.as_str()),
        age_s: report.age(now).map(|age| age.as_secs()),
        eligible_at: judgement.eligible_at.map(instant),
        branch: evidence.shadow.branch.as_ref().map(|b| branch(b, evidence.branch.as_ref(), judgement.branch)),
        worktree: evidence
            .shadow
            .worktree
            .as_ref()
            .map(|w| worktree(w, evidence.worktree.as_ref(), judgement.worktree, report.disk)),
        lease: evidence.lease.known().and_then(Option::as_ref).map(lease),
        holds: judgement.holds.iter().map(hold).collect(),
        steps: report.steps.iter().map(step).collect(),
    }
}

fn branch(branch: &Branch, facts: Option<&BranchFacts>, half: Option<Half>) -> BranchJson {
    let (name, ref_hex) = text(&branch.name);
    BranchJson {
        name,
        ref_hex,
        tip: branch.tip.map(|tip| tip.to_string()),
        verdict: half.unwrap_or(Half::Held).as_str(),
        own_commits: facts.and_then(|facts| facts.own_commits.known().copied()),
        unpushed: facts.and_then(|facts| facts.unpushed.known().copied()),
        landed: match facts.map(|facts| &facts.landing) {
            Some(Fact::Known(Landing::Landed(proof))) => Some(landed(proof)),
            _ => None,
        },
    }
}

fn landed(proof: &Landed) -> LandedJson {
    let (base, base_hex) = text(&proof.base);
    LandedJson { how: proof.how.as_str(), commit: proof.commit.to_string(), base, base_hex }
}

fn worktree(
    registration: &Registration,
    facts: Option<&WorktreeFacts>,
    half: Option<Half>,
    disk: Option<Disk>,
) -> WorktreeJson {
    let (id, id_hex) = text(&registration.id);
    let (path, path_hex) = registration.path.as_deref().map(path_text).unzip();
    let (branch, branch_hex) = match &registration.head {
        Head::Branch(name, _) => Some(text(name)),
        Head::Detached(_) | Head::Broken(_) => None,
    }
    .unzip();
    WorktreeJson {
        id,
        id_hex,
        path,
        path_hex: path_hex.flatten(),
        state: state(facts.map(|facts| &facts.place)),
        head: registration.head.commit().map(|commit| commit.to_string()),
        branch,
        branch_hex: branch_hex.flatten(),
        verdict: half.unwrap_or(Half::Held).as_str(),
        disk: disk.into(),
    }
}

/// Something else at the path (`identity`) is `present`: files are there, and the hold says whose. What cannot be told
/// is `missing`, so that no program takes it for gone.
pub(super) fn state(place: Option<&Fact<Place>>) -> &'static str {
    match place.and_then(Fact::known) {
        Some(Place::Present | Place::NotOurs(_)) => "present",
        Some(Place::Purged(_)) => "purged",
        Some(Place::Missing { .. }) | None => "missing",
    }
}

fn lease(lease: &Lease) -> LeaseJson<'_> {
    LeaseJson {
        id: &lease.id,
        format: &lease.format,
        pid: lease.pid,
        live: lease.is_live(),
        finished: lease.finished.map(instant),
    }
}

fn hold(hold: &Hold) -> HoldJson<'_> {
    HoldJson { code: hold.code.as_str(), on: hold.on.as_str(), message: &hold.message, remedy: hold.remedy.as_deref() }
}

fn step(step: &StepReport) -> StepJson<'_> {
    StepJson { step: step.step.as_str(), outcome: step.outcome.as_str(), detail: step.detail.as_deref() }
}

pub(super) fn error(error: &Error) -> ErrorJson<'_> {
    let (path, path_hex) = error.path.as_deref().map(path_text).unzip();
    ErrorJson {
        code: error.code,
        message: &error.message,
        remedy: error.hint.as_deref(),
        path,
        path_hex: path_hex.flatten(),
    }
}

fn session_root(root: &SessionRoot) -> SessionRootJson<'_> {
    let (path, path_hex) = path_text(&root.path);
    SessionRootJson {
        path,
        path_hex,
        verdict: if root.holds.is_empty() { Half::Release } else { Half::Held }.as_str(),
        holds: root.holds.iter().map(hold).collect(),
    }
}

pub(super) fn path_text(path: &Path) -> (String, Option<String>) {
    text(path.as_os_str().as_encoded_bytes())
}

/// A name for people, and all of its bytes where that is not the same.
pub(super) fn text(name: &[u8]) -> (String, Option<String>) {
    let hex = name.to_str().is_err().then(|| name.iter().map(|byte| format!("{byte:02x}")).collect());
    (name.to_str_lossy().into_owned(), hex)
}
