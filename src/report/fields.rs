//! What `list --format` can say of a shadow: one row a field, for the template, the manual and completion.

use gix::bstr::ByteSlice as _;

use super::json::{instant, state};
use super::{RepositoryReport, ShadowReport, words};
use crate::model::{Code, Fact, Landed, Landing, Lease, Timestamp, short_name};
use crate::ui::safe_lossy;

/// A field of a template.
#[derive(Debug)]
pub struct Field {
    /// As it stands in `%(…)`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What it takes to know it.
    pub(super) cost: Cost,
    /// What it is for one shadow; empty where there is none or it is not known.
    pub(super) value: fn(&Row<'_>) -> Vec<u8>,
}

/// A shadow that is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub repository: &'a RepositoryReport,
    pub shadow: &'a ShadowReport,
    pub now: Timestamp,
}

macro_rules! fields {
    ($($name:literal $cost:ident $about:literal $value:expr;)*) => {
        /// Every field, in the order of the manual.
        pub const FIELDS: &[Field] = &[
            $(Field { name: $name, about: $about, cost: Cost::$cost, value: $value },)*
        ];
    };
}

/// What it takes to know a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// Refs and registrations.
    Named,
    /// A look into worktrees and history.
    Judged,
}

fields! {
    "name" Named "its short branch name, else its registration's id"
        |row| shadow(row).name.to_vec();
    "branch" Named "the full name of its branch"
        |row| shadow(row).branch.as_ref().map(|branch| branch.name.to_vec()).unwrap_or_default();
    "branch:short" Named "the same without 'refs/heads/'"
        |row| shadow(row).branch.as_ref().map(|branch| short_name(branch.name.as_bstr()).to_vec()).unwrap_or_default();
    "tip" Named "the commit of its branch, else of its HEAD"
        |row| text(words::tip(&row.shadow.judgement));
    "tip:short" Named "its first seven characters"
        |row| text(words::tip(&row.shadow.judgement).map(words::short));
    "path" Named "its worktree"
        |row| path(row);
    "registration" Named "the id of its registration"
        |row| shadow(row).worktree.as_ref().map(|worktree| worktree.id.to_vec()).unwrap_or_default();
    "head" Named "the commit of the worktree's HEAD"
        |row| text(shadow(row).worktree.as_ref().and_then(|worktree| worktree.head.commit()));
    "repository" Named "the canonical repository's main worktree, else itself"
        |row| row.repository.path.as_os_str().as_encoded_bytes().to_vec();
    "verdict" Judged "what becomes of it: release, partial (its worktree only), held or foreign"
        |row| row.shadow.judgement.verdict.as_str().into();
    "because" Judged "why it goes: landed, unused, purged or kept-elsewhere"
        |row| text(row.shadow.judgement.because.map(|because| because.as_str()));
    "why" Judged "the reason for the verdict in words, as 'list' shows it"
        |row| words::why(row.shadow).into();
    "code" Judged "the code of the first reason to keep it"
        |row| text(row.shadow.judgement.holds.first().map(|hold| hold.code));
    "codes" Judged "all of them, separated by spaces"
        codes;
    "message" Judged "the first reason to keep it, in words"
        |row| text(row.shadow.judgement.holds.first().map(|hold| safe_lossy(&hold.message)));
    "remedy" Judged "what would help against it"
        |row| text(row.shadow.judgement.holds.first().and_then(|hold| hold.remedy.as_deref()).map(safe_lossy));
    "steps" Judged "what a real run would do, separated by spaces"
        |row| row.shadow.steps.iter().map(|step| step.step.as_str()).collect::<Vec<_>>().join(" ").into();
    "age" Judged "since something last happened: '45s', '5m', '2h', '3d'"
        |row| text(row.shadow.age(row.now).map(|age| words::age(Some(age))));
    "age:seconds" Judged "the same in seconds"
        |row| text(row.shadow.age(row.now).map(|age| age.as_secs()));
    "eligible" Judged "when it may go, if nothing but its youth holds it"
        |row| text(row.shadow.judgement.eligible_at.map(instant));
    "state" Judged "whether the worktree's files are present, purged or missing"
        |row| text(shadow(row).worktree.as_ref().map(|_| {
            state(row.shadow.judgement.evidence.worktree.as_ref().map(|facts| &facts.place))
        }));
    "current" Judged "'*' when the shell is inside its worktree, else a space"
        |row| if row.shadow.is_current() { b"*".to_vec() } else { b" ".to_vec() };
    "session" Judged "the session that has it, or last had it, by its lease"
        |row| text(lease(row).map(|lease| &lease.id));
    "lease" Judged "what is known of that session: live, dead or released"
        |row| text(lease(row).map(|lease| lease.state.as_str()));
    "pid" Judged "the process that the lease names"
        |row| text(lease(row).and_then(|lease| lease.pid).filter(|pid| *pid > 0));
    "own-commits" Judged "how many commits of its branch are in no base"
        |row| text(facts(row).and_then(|facts| facts.own_commits.known()));
    "unpushed" Judged "how many of them are on no remote either"
        |row| text(facts(row).and_then(|facts| facts.unpushed.known()));
    "landed:how" Judged "how its work landed: ancestor, squash, rebase or contained"
        |row| text(landed(row).map(|proof| proof.how.as_str()));
    "landed:commit" Judged "the commit on the base that the proof names"
        |row| text(landed(row).map(|proof| proof.commit));
    "landed:base" Judged "the full name of that base"
        |row| landed(row).map(|proof| proof.base.to_vec()).unwrap_or_default();
}

/// The fields for the help of a command that takes a template.
pub fn help() -> String {
    let width = FIELDS.iter().map(|field| field.name.len()).max().unwrap_or(0);
    let rows = FIELDS.iter().map(|field| format!("  {:width$}  {}", field.name, field.about));
    let rows: Vec<String> = rows.collect();
    format!(
        "Templates:\nA template is as in 'git for-each-ref': '%(field)' is filled in, '%%' is a percent sign, '%xx' the byte with \
         that hexadecimal number ('%00', '%09'). What is not there or not known is empty. The fields:\n{}",
        rows.join("\n")
    )
}

fn text(value: Option<impl ToString>) -> Vec<u8> {
    value.map(|value| value.to_string()).unwrap_or_default().into_bytes()
}

fn shadow<'a>(row: &Row<'a>) -> &'a crate::model::Shadow {
    &row.shadow.judgement.evidence.shadow
}

fn path(row: &Row<'_>) -> Vec<u8> {
    let path = shadow(row).worktree.as_ref().and_then(|worktree| worktree.path.as_ref());
    path.map(|path| path.as_os_str().as_encoded_bytes().to_vec()).unwrap_or_default()
}

/// Each once: two of our codes may be one for users.
fn codes(row: &Row<'_>) -> Vec<u8> {
    let mut codes: Vec<&str> = row.shadow.judgement.holds.iter().map(|hold| Code::as_str(hold.code)).collect();
    codes.dedup();
    codes.join(" ").into()
}

fn lease<'a>(row: &Row<'a>) -> Option<&'a Lease> {
    row.shadow.judgement.evidence.lease.known().and_then(Option::as_ref)
}

fn facts<'a>(row: &Row<'a>) -> Option<&'a crate::model::BranchFacts> {
    row.shadow.judgement.evidence.branch.as_ref()
}

fn landed<'a>(row: &Row<'a>) -> Option<&'a Landed> {
    match facts(row).map(|facts| &facts.landing) {
        Some(Fact::Known(Landing::Landed(proof))) => Some(proof),
        _ => None,
    }
}
