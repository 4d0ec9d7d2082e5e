//! Reports made by hand.

use std::path::PathBuf;

use git_shadow::judge::Judgement;
use git_shadow::model::{
    Age, Base, Because, Branch, BranchFacts, Code, Evidence, Fact, Half, Head, Hold, How, Landed, Landing, On, Outcome,
    Place, Registration, RepositoryFacts, Shadow, StepKind, StepReport, Timestamp, Verdict, WorktreeFacts,
};
use git_shadow::report::{Report, RepositoryReport, ShadowReport};
use git_shadow::ui::Canvas;
use gix::ObjectId;

pub(super) fn now() -> Timestamp {
    "2026-11-30T14:05:01.25Z".parse().unwrap()
}

pub(super) fn hours_ago(hours: i64) -> Timestamp {
    now() - jiff::SignedDuration::from_hours(hours)
}

pub(super) fn oid(start: &str) -> ObjectId {
    ObjectId::from_hex(format!("{start:0<40}").as_bytes()).unwrap()
}

/// A branch, nothing known but its age.
pub(super) fn branch(name: &[u8], tip: &str, hours: i64) -> ShadowReport {
    let full = [b"refs/heads/", name].concat();
    let shadow = Shadow {
        name: name.into(),
        foreign: false,
        branch: Some(Branch { name: full.into(), tip: Some(oid(tip)) }),
        worktree: None,
    };
    let mut evidence = Evidence::not_asked(shadow);
    evidence.branch = Some(BranchFacts::default());
    evidence.age = Fact::Known(Age { newest: Some(hours_ago(hours)) });
    let judgement = Judgement {
        evidence,
        holds: Vec::new(),
        worktree: None,
        branch: Some(Half::Held),
        verdict: Verdict::Held,
        because: None,
        eligible_at: None,
        release: None,
    };
    ShadowReport { judgement, steps: Vec::new(), disk: None }
}

/// What can be said of a report under construction.
pub(super) trait Made {
    fn with(self, change: impl FnOnce(&mut ShadowReport)) -> ShadowReport;
    /// Its worktree, present.
    fn at(self, path: &str) -> ShadowReport;
    fn held(self, code: Code, on: On, message: &str) -> ShadowReport;
    fn landed(self, how: How, commit: &str) -> ShadowReport;
    fn current(self) -> ShadowReport;
    fn foreign(self) -> ShadowReport;
    fn step(self, step: StepKind, outcome: Outcome, detail: Option<&str>) -> ShadowReport;
}

impl Made for ShadowReport {
    fn with(mut self, change: impl FnOnce(&mut ShadowReport)) -> ShadowReport {
        change(&mut self);
        self
    }

    fn at(self, path: &str) -> ShadowReport {
        self.with(|report| {
            let judgement = &mut report.judgement;
            let shadow = &mut judgement.evidence.shadow;
            let branch = shadow.branch.clone().unwrap();
            let id = path.rsplit('/').next().unwrap();
            shadow.worktree = Some(Registration {
                id: id.into(),
                git_dir: format!("/w/repo/.git/worktrees/{id}").into(),
                path: Some(path.into()),
                names: vec![(branch.name.clone(), "checked out")],
                head: Head::Branch(branch.name, branch.tip),
                unread: None,
            });
            judgement.evidence.worktree =
                Some(WorktreeFacts { place: Fact::Known(Place::Present), ..WorktreeFacts::default() });
            judgement.worktree = Some(Half::Held);
        })
    }

    fn held(self, code: Code, on: On, message: &str) -> ShadowReport {
        self.with(|report| {
            let remedy = Some(format!("remedy of {code}"));
            report.judgement.holds.push(Hold { code, on, message: message.into(), remedy });
        })
    }

    fn landed(self, how: How, commit: &str) -> ShadowReport {
        self.with(|report| {
            let proof = Landed { how, commit: oid(commit), base: "refs/remotes/origin/main".into() };
            let judgement = &mut report.judgement;
            let facts = judgement.evidence.branch.as_mut().unwrap();
            facts.landing = Fact::Known(Landing::Landed(proof));
            facts.own_commits = Fact::Known(3);
            facts.unpushed = Fact::Known(0);
            judgement.because = Some(Because::Landed);
            judgement.verdict = Verdict::Release;
            judgement.branch = Some(Half::Release);
            judgement.worktree = judgement.evidence.shadow.worktree.as_ref().map(|_| Half::Release);
        })
    }

    fn current(self) -> ShadowReport {
        self.with(|report| {
            report.judgement.evidence.worktree.as_mut().unwrap().current = Fact::Known(true);
        })
    }

    fn foreign(self) -> ShadowReport {
        self.with(|report| {
            report.judgement.evidence.shadow.foreign = true;
            report.judgement.verdict = Verdict::Foreign;
        })
    }

    fn step(self, step: StepKind, outcome: Outcome, detail: Option<&str>) -> ShadowReport {
        self.with(|report| {
            report.steps.push(StepReport { step, outcome, detail: detail.map(Into::into) });
        })
    }
}

pub(super) fn repository(path: &str, shadows: Vec<ShadowReport>) -> RepositoryReport {
    let base = Base { name: "refs/remotes/origin/main".into(), tip: oid("1c44e0a"), fetched_at: Some(hours_ago(3)) };
    RepositoryReport {
        path: path.into(),
        common_dir: PathBuf::from(path).join(".git"),
        bare: false,
        facts: RepositoryFacts {
            bases: Fact::Known(vec![base]),
            mirror: Fact::Known(Vec::new()),
            grafts: Fact::Known(false),
        },
        shadows,
        errors: Vec::new(),
    }
}

pub(super) fn report(command: &'static str, dry_run: bool, repositories: Vec<RepositoryReport>) -> Report {
    Report { command, dry_run, generated_at: now(), repositories, session_roots: Vec::new(), operation: None }
}

pub(super) fn canvas(width: Option<usize>) -> Canvas {
    Canvas { colour: false, width, here: "/w/repo".into() }
}
