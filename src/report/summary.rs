//! How many of what.

use super::{Report, words};
use crate::model::{Outcome, Verdict};

/// Counts over a whole run, whatever part of it is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Repositories, failed ones too.
    pub repositories: usize,
    /// Shadows, without the foreign.
    pub shadows: usize,
    /// All that is left of them goes.
    pub release: usize,
    /// The worktree goes, the branch stays.
    pub partial: usize,
    /// They stay.
    pub held: usize,
    /// Not ours.
    pub foreign: usize,
    /// Released by this run, or partly so.
    pub released: usize,
    /// Something moved meanwhile.
    pub raced: usize,
    /// The release failed.
    pub failed: usize,
    /// Left for the next run.
    pub pending: usize,
}

impl Summary {
    /// Count.
    pub fn of(report: &Report) -> Self {
        let mut counts = Summary { repositories: report.repositories.len(), ..Summary::default() };
        for shadow in report.repositories.iter().flat_map(|repository| &repository.shadows) {
            match shadow.judgement.verdict {
                Verdict::Release => counts.release += 1,
                Verdict::Partial => counts.partial += 1,
                Verdict::Held => counts.held += 1,
                Verdict::Foreign => counts.foreign += 1,
            }
            match shadow.outcome() {
                Some(Outcome::Done) => counts.released += 1,
                Some(Outcome::Raced) => counts.raced += 1,
                Some(Outcome::Failed) => counts.failed += 1,
                Some(Outcome::Pending) => counts.pending += 1,
                Some(Outcome::Would) | None => {}
            }
        }
        counts.shadows = counts.release + counts.partial + counts.held;
        counts
    }

    /// What goes, in words: `2 of 6 shadows, 1 in part`.
    pub fn share(&self) -> String {
        let in_part = if self.partial > 0 { format!(", {} in part", self.partial) } else { String::new() };
        format!("{} of {}{in_part}", self.release, words::count(self.shadows, "shadow"))
    }
}
