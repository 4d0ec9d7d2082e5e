//! What is not as it should be in a repository, beside its shadows' verdicts: a table of checks, one file each.
//!
//! A check only looks. What it finds has a message, a remedy that can be typed, and, where setting it right loses nothing,
//! a [`Fix`] for the executor.

mod bases;
mod hooks;
mod journal;
mod leftovers;
mod mirrors;
mod orphans;
mod quiet;
mod registrations;
mod squatting;
mod upstream;
mod words;

use std::path::PathBuf;

use gix::bstr::BString;

use crate::discover::{self, Discovery};
use crate::error::{Error, Result};
use crate::execute::repair::Wanted;
use crate::git::{self, Repository};
use crate::inspect::{Host, worktree};
use crate::journal::Repair;
use crate::model::{Base, Fact, Finding, Place, Registration, shell};
use crate::policy::Policy;

/// What a check may look at.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The repository.
    pub repo: &'a Repository,
    /// A handle of this thread.
    pub gix: gix::Repository,
    /// The policy.
    pub policy: &'a Policy,
    /// The machine.
    pub host: &'a Host,
    /// Refs, registrations and shadows.
    pub discovery: Discovery,
    /// The bases; `Unknown` says what would fix it.
    pub bases: Fact<Vec<Base>>,
    /// Where the worktrees are, in the order of the registrations.
    pub places: Vec<Fact<Place>>,
    /// How git is called about this repository from where the user stands.
    pub git: String,
}

impl<'a> Scene<'a> {
    /// Read what the checks share. `is_here`: the user stands in the repository.
    ///
    /// # Errors
    /// When refs or registrations cannot be listed.
    pub fn read(repo: &'a Repository, policy: &'a Policy, host: &'a Host, is_here: bool) -> Result<Scene<'a>> {
        let gix = repo.local();
        let discovery = discover::discover(repo, &gix, policy, &host.leases)?;
        let bases = git::bases::resolve(repo, policy);
        let git = if is_here { "git".into() } else { format!("git -C {}", shell::path(repo.path())) };
        let mut scene = Scene { repo, gix, policy, host, discovery, bases, places: Vec::new(), git };
        scene.places = worktree::places(scene.inspected());
        Ok(scene)
    }

    /// What looking at a worktree takes.
    fn inspected(&self) -> worktree::Scene<'_> {
        worktree::Scene {
            repo: self.repo,
            gix: &self.gix,
            policy: self.policy,
            host: self.host,
            registrations: &self.discovery.registrations,
        }
    }

    /// Every registration with the place of its worktree.
    fn worktrees(&self) -> impl Iterator<Item = (&Registration, &Fact<Place>)> {
        self.discovery.registrations.iter().zip(&self.places)
    }

    /// Whether the program has anything to do here: without shadows, and where it never ran, what would only harm its pins
    /// or its verdicts harms nothing.
    fn is_used(&self) -> bool {
        self.discovery.shadows.iter().any(|shadow| !shadow.foreign) || self.repo.shadow_dir().exists()
    }

    /// The local branches that stand for a base.
    fn base_branches(&self) -> Vec<BString> {
        let mut names = Vec::new();
        for base in self.bases.known().into_iter().flatten() {
            let name = git::bases::heads(git::bases::branch_of(&self.gix, base.name.as_ref()));
            let twin = base.name.starts_with(b"refs/heads/").then(|| base.name.clone());
            for name in twin.into_iter().chain([name]) {
                if self.discovery.refs.heads.contains_key(&name) && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

/// What sets a finding right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// A journaled step with an inverse, of what has this name.
    Repair(BString, Repair),
    /// What killed runs left in the journal is finished or put back, as every run does first.
    Recover,
    /// A file or folder of our own, which holds nothing but copies, is deleted.
    Sweep(PathBuf),
}

/// A finding with its fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What was found.
    pub finding: Finding,
    /// What sets it right; `None`: only the user can.
    pub fix: Option<Fix>,
}

impl From<Finding> for Found {
    fn from(finding: Finding) -> Found {
        Found { finding, fix: None }
    }
}

impl Found {
    /// With a repair of what has this name.
    fn repaired(mut finding: Finding, name: impl Into<BString>, repair: Repair) -> Found {
        finding.step = Some(repair.step());
        Found { finding, fix: Some(Fix::Repair(name.into(), repair)) }
    }

    /// For the executor, where a repair sets it right.
    pub fn wanted(&self) -> Option<Wanted> {
        match self.fix.as_ref()? {
            Fix::Repair(name, repair) => {
                Some(Wanted { name: name.clone(), because: self.finding.code.as_str(), repair: repair.clone() })
            }
            Fix::Recover | Fix::Sweep(_) => None,
        }
    }
}

/// One row of the table.
struct Check {
    /// What is looked for, for the message that it cannot be.
    what: &'static str,
    look: fn(&Scene<'_>) -> Result<Vec<Found>>,
    /// It may want repairs.
    repairs: bool,
}

const CHECKS: &[Check] = &[
    Check { what: "worktrees on the wrong branch", look: squatting::look, repairs: true },
    Check { what: "upstreams of the bases", look: upstream::look, repairs: true },
    Check { what: "remotes that mirror", look: mirrors::look, repairs: true },
    Check { what: "bases", look: bases::look, repairs: false },
    Check { what: "the journal", look: journal::look, repairs: false },
    Check { what: "leftovers", look: leftovers::look, repairs: false },
    Check { what: "registrations", look: registrations::look, repairs: false },
    Check { what: "hooks", look: hooks::look, repairs: false },
    Check { what: "directories without a registration", look: orphans::look, repairs: false },
];

/// All that is found, in the order of the codes, and what could not be looked at: that is not read as healthy.
pub fn examine(scene: &Scene<'_>) -> (Vec<Found>, Vec<Error>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for check in CHECKS {
        match (check.look)(scene) {
            Ok(more) => found.extend(more),
            Err(error) => errors.push(error.context(format_args!("cannot look at {}", check.what))),
        }
    }
    found.sort_by_key(|one| one.finding.code);
    (found, errors)
}

/// Only the repairs that are wanted, for the last look before one is done.
///
/// # Errors
/// When something could not be looked at.
pub fn wanted(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let checks = CHECKS.iter().filter(|check| check.repairs);
    Ok(checks.map(|check| (check.look)(scene)).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}
