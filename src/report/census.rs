//! How many of what there is, over all repositories: worktrees, branches, ages, disk, and where most of it lies.

use std::cmp::Reverse;
use std::path::PathBuf;

use gix::bstr::BString;
use jiff::SignedDuration;

use super::{Report, RepositoryReport, ShadowReport};
use crate::model::{Disk, Disks, Fact, Half, Head, Place, Timestamp, Verdict};

/// What is younger than this is new.
const NEW: SignedDuration = SignedDuration::from_hours(1);

/// So many repositories are named.
const HEAVIEST: usize = 5;

/// Counts over a whole run, whatever part of it is shown. Shadows are those of sessions, without the foreign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Census {
    /// Repositories, failed ones too.
    pub repositories: usize,
    /// Those of which nothing is known but an error.
    pub failed: usize,
    /// Local branches, everybody's.
    pub branches: usize,
    /// Registered worktrees, everybody's.
    pub registrations: usize,
    /// Shadows.
    pub shadows: usize,
    /// Their branches.
    pub shadow_branches: usize,
    /// Their registered worktrees.
    pub shadow_worktrees: usize,
    /// Of these, those that are there.
    pub present: usize,
    /// Those whose files are gone for good.
    pub purged: usize,
    /// Those that are away, or of which that cannot be told.
    pub missing: usize,
    /// Shadows whose HEAD is on a branch.
    pub checked_out: usize,
    /// Shadows that came to be in the last hour.
    pub created_last_hour: usize,
    /// Shadows of which nothing tells when they came to be.
    pub created_unknown: usize,
    /// The one that is there longest.
    pub oldest: Option<Oldest>,
    /// What their worktrees take on the disk, where that was measured.
    pub disk: Option<Disk>,
    /// What of it is in worktrees that are to be released.
    pub release_disk: Option<Disk>,
    /// The repositories that have most, by disk where that was measured, else by shadows.
    pub heaviest: Vec<Heavy>,
}

/// A shadow and when it came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oldest {
    /// Its name.
    pub name: BString,
    /// The path of its repository.
    pub repository: PathBuf,
    /// When.
    pub created: Timestamp,
}

/// What one repository has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heavy {
    /// Its path.
    pub path: PathBuf,
    /// Shadows.
    pub shadows: usize,
    /// Their registered worktrees.
    pub worktrees: usize,
    /// Shadows of which something goes.
    pub release: usize,
    /// What the worktrees take.
    pub disk: Option<Disk>,
}

impl Census {
    /// Count; `disks` is what was measured.
    pub fn of(report: &Report, disks: Option<&Disks>) -> Self {
        let mut census = Census {
            repositories: report.repositories.len(),
            disk: disks.map(|disks| disks.all),
            release_disk: disks.map(|disks| disks.release),
            ..Census::default()
        };
        for repository in &report.repositories {
            census.failed += usize::from(!repository.errors.is_empty() && repository.shadows.is_empty());
            for shadow in &repository.shadows {
                census.count(shadow, repository, report.generated_at);
            }
        }
        let disk_of = |n: usize| disks.and_then(|disks| disks.repositories.get(n).copied());
        let heavy = report.repositories.iter().enumerate().map(|(n, repository)| Heavy::of(repository, disk_of(n)));
        census.heaviest = heavy.filter(|heavy| heavy.shadows > 0).collect();
        let weight = |heavy: &Heavy| (heavy.disk.map(|disk| disk.bytes), heavy.shadows);
        census.heaviest.sort_by_key(|heavy| Reverse(weight(heavy)));
        census.heaviest.truncate(HEAVIEST);
        census
    }

    fn count(&mut self, report: &ShadowReport, repository: &RepositoryReport, now: Timestamp) {
        let evidence = &report.judgement.evidence;
        let shadow = &evidence.shadow;
        self.branches += usize::from(shadow.branch.is_some());
        self.registrations += usize::from(shadow.worktree.is_some());
        if report.judgement.verdict == Verdict::Foreign {
            return;
        }
        self.shadows += 1;
        self.shadow_branches += usize::from(shadow.branch.is_some());
        if let Some(worktree) = &shadow.worktree {
            self.shadow_worktrees += 1;
            self.checked_out += usize::from(matches!(worktree.head, Head::Branch(..)));
            match evidence.worktree.as_ref().and_then(|facts| facts.place.known()) {
                Some(Place::Present | Place::NotOurs(_)) => self.present += 1,
                Some(Place::Purged(_)) => self.purged += 1,
                Some(Place::Missing { .. }) | None => self.missing += 1,
            }
        }
        match evidence.begun {
            Fact::Known(Some(created)) => {
                self.created_last_hour += usize::from(now.duration_since(created) <= NEW);
                if self.oldest.as_ref().is_none_or(|oldest| created < oldest.created) {
                    let (name, repository) = (shadow.name.clone(), repository.path.clone());
                    self.oldest = Some(Oldest { name, repository, created });
                }
            }
            Fact::Known(None) | Fact::Unknown(_) | Fact::NotApplicable | Fact::NotAsked => self.created_unknown += 1,
        }
    }
}

impl Heavy {
    fn of(repository: &RepositoryReport, disk: Option<Disk>) -> Self {
        let ours = || repository.shadows.iter().filter(|shadow| shadow.judgement.verdict != Verdict::Foreign);
        let goes = |shadow: &&ShadowReport| {
            let judgement = &shadow.judgement;
            [judgement.worktree, judgement.branch].contains(&Some(Half::Release))
        };
        Heavy {
            path: repository.path.clone(),
            shadows: ours().count(),
            worktrees: ours().filter(|shadow| shadow.judgement.evidence.shadow.worktree.is_some()).count(),
            release: ours().filter(goes).count(),
            disk,
        }
    }
}
