//! A run over one repository that may release: judged, planned, and either told or carried out.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};

use super::expire::Expiry;
use super::survey::{self, Survey};
use super::{Context, fleet};
use crate::discover;
use crate::error::{Error, Result};
use crate::execute::{self, Recovered, Run, Witness};
use crate::git::Repository;
use crate::git::refs::Refs;
use crate::inspect::worktree::{self, Scene};
use crate::inspect::{Depth, Host};
use crate::journal::{Cursor, Journal, Seen, Turns};
use crate::judge::{Judgement, Release, Terms};
use crate::model::{Fact, Landing, Outcome, Registration, Shadow, StepReport, Timestamp, Verdict};
use crate::plan::{Plan, difference};
use crate::policy::Policy;
use crate::report::{RepositoryReport, ShadowReport};
use crate::sys::clock;
use crate::sys::lock::{self, Lock};
use crate::sys::tree::Snapshot;

/// How long to wait for another run.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// What a run is about.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The streams and options.
    pub context: &'a Context<'a>,
    /// The policy.
    pub policy: &'a Policy,
    /// The machine, when the run began.
    pub host: &'a Host,
    /// What the judge is told.
    pub terms: Terms,
    /// The operation's id.
    pub operation: &'a str,
    /// The bases were fetched in this run.
    pub fetched: bool,
}

/// The repository's lock, waiting two seconds for another run.
///
/// # Errors
/// 128 when it is busy or cannot be made.
pub fn lock(repo: &Repository) -> Result<Lock> {
    lock_within(repo, PATIENCE)
}

/// The repository's lock, for someone who has more time.
///
/// # Errors
/// As [`lock`].
pub fn lock_within(repo: &Repository, patience: Duration) -> Result<Lock> {
    lock::exclusive(&repo.shadow_dir().join("lock"), patience)
}

/// Judge and plan; nothing is written. With `only`, just those.
///
/// # Errors
/// When the repository as a whole cannot be read.
pub fn plan(repo: &Repository, order: Order<'_>, only: Option<&[Shadow]>) -> Result<RepositoryReport> {
    Ok(planned(repo, judged(repo, order, only)?))
}

/// A shadow that somebody was shown, and what they agreed to: that this goes of it, and no more.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The shadow.
    pub shadow: Shadow,
    /// What goes.
    pub release: Release,
}

impl Shown {
    /// Of a judgement that lets something go.
    pub fn of(judgement: &Judgement) -> Option<Shown> {
        Some(Shown { shadow: judgement.evidence.shadow.clone(), release: judgement.release.clone()? })
    }

    /// Whether it is the same still; what is held by now is only told.
    fn is(&self, now: &Judgement) -> bool {
        let same = |fresh: &Release| difference(&self.release, fresh).is_none();
        self.shadow == now.evidence.shadow && now.release.as_ref().is_none_or(same)
    }
}

/// What a real run did.
#[derive(Debug)]
pub struct Swept {
    /// The report.
    pub report: RepositoryReport,
    /// Until when what was released can be taken back; `None`: nothing was.
    pub undo_until: Option<Timestamp>,
}

/// The earlier of two ends; several repositories may keep what was released for different times.
pub fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

/// Judge, plan and carry out, under the repository's `_lock`. `agreed` is what was shown and agreed to: then just that.
/// `only` picks among the shadows, once killed runs are recovered.
///
/// # Errors
/// 128 when the journal is corrupt, or the repository as a whole cannot be read; then nothing was changed.
pub fn carry_out(
    repo: &Repository,
    _lock: &Lock,
    order: Order<'_>,
    agreed: Option<&[Shown]>,
    only: impl FnOnce(&[Shadow]) -> Result<Option<Vec<Shadow>>>,
) -> Result<Swept> {
    let journal = Journal::of(repo);
    let recovered = execute::recover(repo, &journal)?;
    let only = match agreed {
        Some(agreed) => Some(agreed.iter().map(|shown| shown.shadow.clone()).collect()),
        None => only(&discover::discover(repo, &repo.local(), order.policy, &order.host.leases)?.shadows)?,
    };
    let mut survey = judged(repo, order, only.as_deref())?;
    if let Some(agreed) = agreed {
        survey.judgements.retain(|now| agreed.iter().any(|shown| shown.is(now)));
    }
    let plan = Plan::new(&survey.judgements);
    let mut again = Again { repo, order, host: None };
    let run = Run { id: order.operation, command: order.context.command, started: order.host.now };
    let executed = execute::execute(repo, &plan, &mut again, run)?;
    // What was done is told, whatever cannot be written down afterwards.
    let seen = if only.is_none() { see(repo, &survey, order) } else { Ok(()) };
    let mut report = report(repo, survey, executed.steps.into_iter().collect());
    // A hook looks at what is new, so only who has looked at everything may say from where.
    let all = only.is_none().then(|| report.facts.bases.known()).flatten();
    let looked = all.map_or(Ok(()), |bases| Cursor::after(bases, waiting(&report.shadows)).write(repo));
    report.errors.extend(executed.unsettled.into_iter().chain(seen.err()).chain(looked.err()));
    tell_recovered(&mut report, recovered, order.context);
    let expiry = Expiry { keep: *order.policy.keep, now: clock::now(), fetched: order.fetched };
    let mut turns = Turns::read(repo);
    let swept = crate::lease::sweep::sweep(repo, &mut turns);
    let expired = super::expire::expire(repo, order.policy, &journal, &expiry, Some(&mut turns));
    report.errors.extend(swept.err().into_iter().chain(expired.err()));
    let until = || order.host.now.checked_add(*order.policy.keep).unwrap_or(Timestamp::MAX);
    Ok(Swept { report, undo_until: executed.released.then(until) })
}

fn judged(repo: &Repository, order: Order<'_>, only: Option<&[Shadow]>) -> Result<Survey> {
    survey::of(repo, order.policy, order.host, only, Depth::Everything, order.terms)
}

/// The survey with what a real run would do.
pub(super) fn planned(repo: &Repository, survey: Survey) -> RepositoryReport {
    let would = Plan::new(&survey.judgements).all().map(|planned| (planned.index, planned.would())).collect();
    report(repo, survey, would)
}

/// The survey with what was or would be done.
pub(super) fn report(repo: &Repository, survey: Survey, steps: HashMap<usize, Vec<StepReport>>) -> RepositoryReport {
    let mut steps = steps;
    let shadows = survey.judgements.into_iter().enumerate().map(|(index, judgement)| {
        let mut shadow = ShadowReport::judged(judgement);
        shadow.steps.extend(steps.remove(&index).unwrap_or_default());
        shadow
    });
    RepositoryReport {
        path: repo.path().to_owned(),
        common_dir: repo.common_dir().to_owned(),
        bare: repo.is_bare(),
        facts: survey.facts,
        shadows: shadows.collect(),
        errors: Vec::new(),
    }
}

/// What was finished is no shadow any more, and what was put back is one again.
fn tell_recovered(report: &mut RepositoryReport, recovered: Vec<Recovered>, context: &Context<'_>) {
    for Recovered { operation, name, step } in recovered {
        let shadow = report.shadows.iter_mut().find(|shadow| shadow.judgement.evidence.shadow.name == name);
        let detail = step.detail.clone().map(|detail| format!(": {detail}")).unwrap_or_default();
        let what = format!("operation {operation} was interrupted, {} of '{name}'", step.step.as_str());
        match (shadow, step.outcome) {
            (Some(shadow), _) => shadow.steps.insert(0, StepReport { detail: Some(format!("{what}{detail}")), ..step }),
            (None, Outcome::Raced | Outcome::Failed) => {
                report.errors.push(Error::failed("interrupted", format!("{what} {}{detail}", step.outcome.as_str())));
            }
            (None, _) => context.ui.note(&format!("{what} {}{detail}", step.outcome.as_str())),
        }
    }
}

/// What has landed but is held, or could not be finished, and of what that could not be told, with its tip: hooks look at
/// it again.
pub fn waiting(shadows: &[ShadowReport]) -> impl Iterator<Item = (&BString, ObjectId)> {
    let stays = |shadow: &&ShadowReport| {
        shadow.judgement.verdict == Verdict::Held
            || matches!(shadow.outcome(), Some(Outcome::Raced | Outcome::Failed | Outcome::Pending))
    };
    shadows.iter().filter(stays).filter_map(|shadow| {
        let evidence = &shadow.judgement.evidence;
        let branch = evidence.branch.as_ref().map(|facts| &facts.landing);
        let landing = branch.or(evidence.worktree.as_ref().map(|facts| &facts.head_landing))?;
        let landed = matches!(landing, Fact::Known(Landing::Landed(_)) | Fact::Unknown(_));
        Some((&evidence.shadow.name, evidence.shadow.tip()?)).filter(|_| landed)
    })
}

/// Note at which tip each ref is seen: the age of those that show no other sign of it.
fn see(repo: &Repository, survey: &Survey, order: Order<'_>) -> Result<()> {
    let shadows = survey.judgements.iter().map(|judgement| &judgement.evidence.shadow).filter(|shadow| !shadow.foreign);
    let branches = shadows.filter_map(|shadow| shadow.branch.as_ref());
    let refs = branches.filter_map(|branch| Some((branch.name.as_bstr(), branch.tip?)));
    Seen::read(repo)?.record(repo, refs, order.host.now)
}

/// Judges again for the executor, each time on facts of that moment.
struct Again<'a> {
    repo: &'a Repository,
    order: Order<'a>,
    host: Option<Host>,
}

impl Witness for Again<'_> {
    fn judge_again(&mut self, names: &[BString]) -> Result<Vec<Judgement>> {
        let host = self.host.insert(fleet::host(self.order.context, clock::now()));
        let names: HashSet<BString> = names.iter().cloned().collect();
        let (policy, terms) = (self.order.policy, self.order.terms);
        Ok(survey::survey(self.repo, policy, host, Some(&names), Depth::Everything, terms)?.judgements)
    }

    fn snapshot(&mut self, registration: &Registration) -> Result<Snapshot> {
        let gix = self.repo.local();
        let registrations = discover::registrations(self.repo, &Refs::read(&gix)?)?;
        let host = self.host.as_ref().unwrap_or(self.order.host);
        let policy = self.order.policy;
        let scene = Scene { repo: self.repo, gix: &gix, policy, host, registrations: &registrations };
        worktree::snapshot(scene, registration)
    }
}
