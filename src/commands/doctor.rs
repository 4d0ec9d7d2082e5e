//! `git shadow doctor`: what is not as it should be, and setting it right where that loses nothing.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;

use super::{Context, fleet, sweep};
use crate::doctor::{self, Fix, Found, Scene};
use crate::error::{Error, Exit, Result};
use crate::execute::repair::{self, Guard, Wanted};
use crate::execute::sweep::sweep as swept;
use crate::execute::{Recovered, Run, recover};
use crate::git::Repository;
use crate::inspect::Host;
use crate::journal::{Journal, Repair, new_id};
use crate::model::{Outcome, Trouble};
use crate::policy::{self, Policy};
use crate::report::Format;
use crate::report::doctor::{Examination, Examined, codes, human, json, porcelain};
use crate::sys::{self, clock, threads::locked};

/// Find what is not as it should be
#[derive(Debug, clap::Args)]
#[command(after_help = codes())]
pub struct Args {
    /// Set right what can be without losing anything
    #[arg(long)]
    pub fix: bool,
    /// With --fix, only say what would be set right
    #[arg(short = 'n', long, requires = "fix")]
    pub dry_run: bool,
}

/// Run it.
///
/// # Errors
/// When the only repository cannot be read; with `--fix`, when its lock is busy or its journal corrupt.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let fixes = args.fix && !args.dry_run;
    let host = fleet::host(context, clock::now());
    let doctor = Doctor { context, host: &host, here: here(context), id: new_id(host.now), done: Mutex::new(false) };
    let jobs = if fixes { fleet::ONE_BY_ONE } else { sys::threads::available() };
    let each = |repo: &Repository| if fixes { doctor.fix(repo) } else { doctor.look(repo, args.fix) };
    let failed = |place: &Path, error| Examined { path: place.to_owned(), findings: Vec::new(), errors: vec![error] };
    let mut repositories = fleet::each(context, &fleet::repositories(context), jobs, each, failed)?;
    told_once(&mut repositories);
    let operation = locked(&doctor.done).then(|| doctor.id.clone());
    let examination = Examination { dry_run: !fixes, repositories, operation };
    match context.options.format() {
        Format::Json => context.ui.answer(json(&examination)),
        Format::Porcelain { nul } => context.ui.answer(porcelain(&examination, nul)),
        Format::Human => context.show(&human(&examination, &context.ui.canvas(&context.dir))),
    }
    examination.repositories.iter().flat_map(|one| &one.errors).for_each(|error| context.ui.error(error));
    Ok(examination.exit())
}

/// What belongs to no repository is seen from each.
fn told_once(repositories: &mut [Examined]) {
    let mut told = HashSet::new();
    for one in repositories {
        one.findings.retain(|finding| match (finding.code, &finding.path) {
            (Trouble::LeftoverFile | Trouble::Orphan, Some(path)) => told.insert(path.clone()),
            _ => true,
        });
    }
}

/// The repository that the user stands in, by its common directory.
fn here(context: &Context<'_>) -> Option<std::path::PathBuf> {
    Repository::discover(&context.dir).ok().map(|repo| repo.common_dir().to_owned())
}

struct Doctor<'a> {
    context: &'a Context<'a>,
    host: &'a Host,
    here: Option<std::path::PathBuf>,
    id: String,
    /// Something was set right by an operation.
    done: Mutex<bool>,
}

impl Doctor<'_> {
    fn scene<'s>(&self, repo: &'s Repository, policy: &'s Policy, host: &'s Host) -> Result<Scene<'s>> {
        Scene::read(repo, policy, host, self.here.as_deref() == Some(repo.common_dir()))
    }

    /// Nothing is written. `would`: say what would be set right.
    fn look(&self, repo: &Repository, would: bool) -> Result<Examined> {
        let policy = policy::load(repo)?;
        let (mut found, errors) = doctor::examine(&self.scene(repo, &policy, self.host)?);
        for one in found.iter_mut().filter(|one| would && one.fix.is_some()) {
            one.finding.outcome = Some(Outcome::Would);
        }
        Ok(told(repo, found, errors))
    }

    /// Look again under the lock, and set right what can be.
    fn fix(&self, repo: &Repository) -> Result<Examined> {
        let policy = policy::load(repo)?;
        let (found, errors) = doctor::examine(&self.scene(repo, &policy, self.host)?);
        // Nothing is begun beside a journal that cannot be read.
        let is_corrupt = found.iter().any(|one| one.finding.code == Trouble::CorruptJournal);
        if is_corrupt || found.iter().all(|one| one.fix.is_none()) {
            return Ok(told(repo, found, errors));
        }
        let _lock = sweep::lock(repo)?;
        let interrupted: Vec<Found> = found.into_iter().filter(|one| one.fix == Some(Fix::Recover)).collect();
        let recovered = recover(repo, &Journal::of(repo))?;
        let (mut found, mut errors) = doctor::examine(&self.scene(repo, &policy, self.host)?);
        settle(&mut found, interrupted, &recovered);
        for one in &mut found {
            if let Some(Fix::Sweep(path)) = &one.fix {
                let swept = swept(path);
                one.finding.outcome = Some(if swept.is_ok() { Outcome::Done } else { Outcome::Failed });
                one.finding.detail = swept.err().map(|error| error.message);
            }
        }
        let wanted: Vec<Wanted> = found.iter().filter_map(Found::wanted).collect();
        let mut again = Again { doctor: self, repo, policy: &policy };
        let run = Run { id: &self.id, command: self.context.command, started: self.host.now };
        let repaired = repair::carry_out(repo, &wanted, &mut again, run);
        errors.extend(repaired.unsettled);
        let repairs = found.iter_mut().filter(|one| one.wanted().is_some());
        for (one, step) in repairs.zip(repaired.steps) {
            *locked(&self.done) |= step.outcome == Outcome::Done;
            one.finding.outcome = Some(step.outcome);
            one.finding.detail = step.detail;
        }
        Ok(told(repo, found, errors))
    }
}

/// What was interrupted and is settled by now was finished or put back; of what is not, it is told why.
fn settle(found: &mut Vec<Found>, interrupted: Vec<Found>, recovered: &[Recovered]) {
    for one in found.iter_mut().filter(|one| one.fix == Some(Fix::Recover)) {
        one.finding.outcome = Some(Outcome::Pending);
        let why = |step: &&Recovered| one.finding.message.contains(&step.operation) && step.step.detail.is_some();
        one.finding.detail = recovered.iter().find(why).and_then(|step| step.step.detail.clone());
    }
    for mut one in interrupted {
        if !found.iter().any(|open| open.finding.path == one.finding.path && open.fix == Some(Fix::Recover)) {
            one.finding.outcome = Some(Outcome::Done);
            found.push(one);
        }
    }
    found.sort_by_key(|one| one.finding.code);
}

fn told(repo: &Repository, found: Vec<Found>, errors: Vec<Error>) -> Examined {
    let findings = found.into_iter().map(|one| one.finding).collect();
    Examined { path: repo.path().to_owned(), findings, errors }
}

/// Looks again for the executor, each time on facts of that moment.
struct Again<'a> {
    doctor: &'a Doctor<'a>,
    repo: &'a Repository,
    policy: &'a Policy,
}

impl Guard for Again<'_> {
    fn why_not(&mut self, repair: &Repair) -> Result<Option<String>> {
        let host = fleet::host(self.doctor.context, clock::now());
        let found = doctor::wanted(&self.doctor.scene(self.repo, self.policy, &host)?)?;
        if found.iter().filter_map(Found::wanted).any(|one| one.repair == *repair) {
            return Ok(None);
        }
        let same = |one: &&Found| {
            one.fix.is_none()
                && matches!(repair, Repair::DetachHead { branch, .. } if one.finding.name.as_ref() == Some(branch))
        };
        let disturbed = found.iter().filter(same).find_map(|one| one.finding.detail.clone());
        Ok(Some(disturbed.unwrap_or_else(|| "it is no longer as it was".into())))
    }
}
