//! The census in `git-shadow.report.v1`: an object that `list --summary` and `list --disk` add; null in all other answers.

use serde::Serialize;

use super::{instant, path_text, text};
use crate::model::{Disk, Timestamp};
use crate::report::Census;
use crate::report::census::{Heavy, Oldest};

#[derive(Serialize)]
pub(super) struct CensusJson {
    repositories: usize,
    failed: usize,
    branches: usize,
    registrations: usize,
    shadows: usize,
    shadow_branches: usize,
    shadow_worktrees: usize,
    present: usize,
    purged: usize,
    missing: usize,
    checked_out: usize,
    created_last_hour: usize,
    created_unknown: usize,
    oldest: Option<OldestJson>,
    #[serde(flatten)]
    disk: DiskJson,
    release_bytes: Option<u64>,
    heaviest: Vec<HeavyJson>,
}

#[derive(Serialize)]
struct OldestJson {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    repository: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository_hex: Option<String>,
    created_at: String,
    age_s: i64,
}

#[derive(Serialize)]
struct HeavyJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    shadows: usize,
    worktrees: usize,
    release: usize,
    #[serde(flatten)]
    disk: DiskJson,
}

/// A number that is not complete is the least that it is.
#[derive(Serialize)]
pub(super) struct DiskJson {
    bytes: Option<u64>,
    bytes_complete: Option<bool>,
}

impl From<Option<Disk>> for DiskJson {
    fn from(disk: Option<Disk>) -> Self {
        DiskJson { bytes: disk.map(|disk| disk.bytes), bytes_complete: disk.map(|disk| disk.complete) }
    }
}

pub(super) fn census(census: &Census, now: Timestamp) -> CensusJson {
    CensusJson {
        repositories: census.repositories,
        failed: census.failed,
        branches: census.branches,
        registrations: census.registrations,
        shadows: census.shadows,
        shadow_branches: census.shadow_branches,
        shadow_worktrees: census.shadow_worktrees,
        present: census.present,
        purged: census.purged,
        missing: census.missing,
        checked_out: census.checked_out,
        created_last_hour: census.created_last_hour,
        created_unknown: census.created_unknown,
        oldest: census.oldest.as_ref().map(|one| oldest(one, now)),
        disk: census.disk.into(),
        release_bytes: census.release_disk.map(|disk| disk.bytes),
        heaviest: census.heaviest.iter().map(heavy).collect(),
    }
}

fn oldest(oldest: &Oldest, now: Timestamp) -> OldestJson {
    let (name, name_hex) = text(&oldest.name);
    let (repository, repository_hex) = path_text(&oldest.repository);
    let age_s = now.duration_since(oldest.created).as_secs().max(0);
    OldestJson { name, name_hex, repository, repository_hex, created_at: instant(oldest.created), age_s }
}

fn heavy(heavy: &Heavy) -> HeavyJson {
    let (path, path_hex) = path_text(&heavy.path);
    let Heavy { shadows, worktrees, release, disk, .. } = *heavy;
    HeavyJson { path, path_hex, shadows, worktrees, release, disk: disk.into() }
}
