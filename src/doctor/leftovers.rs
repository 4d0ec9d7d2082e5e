//! Files of the program's own that a killed run left: halves of files that were being written, and the folders in which
//! merges are tried, which hold nothing but copies and links. Only what names a process that is provably gone.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use super::{Fix, Found, Scene};
use crate::error::Result;
use crate::git::QUARANTINE;
use crate::lease::liveness;
use crate::model::{Fact, Finding, StepKind, Timestamp, Trouble};
use crate::sys::{owner, private};

/// Nothing younger: the process may be one that another pid namespace counts.
const YOUNG: SignedDuration = SignedDuration::from_hours(1);

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for dir in folders(scene)? {
        for (path, name) in list(&dir)? {
            if let Some(pid) = of_half_a_file(&name)
                && path.is_file()
                && is_left(scene, &path, pid)
            {
                found.push(left(path, format!("left by process {pid}, half written")));
            }
        }
    }
    for place in private::places() {
        for (path, name) in list(&place)? {
            if let Some(pid) = of_quarantine(&name)
                && path.is_dir()
                && is_left(scene, &path, pid)
                && is_empty_of_processes(scene, &path)
            {
                found.push(left(path, format!("left by process {pid}, copies in which it tried merges")));
            }
        }
    }
    Ok(found)
}

fn left(path: PathBuf, what: String) -> Found {
    let mut finding = Finding::new(Trouble::LeftoverFile, format!("'{}' was {what}", path.display()))
        .remedy("git shadow doctor --fix")
        .at(&path);
    finding.step = Some(StepKind::Sweep);
    Found { finding, fix: Some(Fix::Sweep(path)) }
}

/// Where files are written whole: never the copies of a registration or of files, which are somebody else's.
fn folders(scene: &Scene<'_>) -> Result<Vec<PathBuf>> {
    let dir = scene.repo.shadow_dir();
    let mut folders = vec![dir.clone(), dir.join("leases"), dir.join("transaction")];
    for (operation, _) in list(&dir.join("operations"))? {
        for (item, name) in list(&operation)? {
            if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
                folders.push(item);
            }
        }
        folders.push(operation);
    }
    folders.extend(scene.discovery.registrations.iter().map(|registration| registration.git_dir.clone()));
    Ok(folders)
}

/// The entries of a folder whose names are text; none where there is no such folder.
fn list(dir: &Path) -> Result<Vec<(PathBuf, String)>> {
    use std::io::ErrorKind;
    let entries = match fs_err::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        found.extend(entry.file_name().to_str().map(|name| (entry.path(), name.to_owned())));
    }
    found.sort();
    Ok(found)
}

/// The process of `.<name>.<pid>-<serial>`, and of `fetched.<pid>`.
fn of_half_a_file(name: &str) -> Option<i64> {
    let pid = match name.strip_prefix('.') {
        Some(rest) => {
            let (_, numbers) = rest.rsplit_once('.')?;
            let (pid, serial) = numbers.split_once('-')?;
            serial.parse::<u32>().ok()?;
            pid
        }
        None => name.strip_prefix("fetched.")?,
    };
    pid.parse().ok().filter(|pid| *pid > 0)
}

/// The process of `git-shadow-merge-<pid>-<random>`.
fn of_quarantine(name: &str) -> Option<i64> {
    let (pid, _) = name.strip_prefix(QUARANTINE)?.split_once('-')?;
    pid.parse().ok().filter(|pid| *pid > 0)
}

/// Ours, not young, and its process is provably gone.
fn is_left(scene: &Scene<'_>, path: &Path, pid: i64) -> bool {
    let changed = fs_err::symlink_metadata(path).and_then(|found| found.modified()).ok();
    let changed = changed.and_then(|time| Timestamp::try_from(time).ok());
    changed.is_some_and(|at| scene.host.now.duration_since(at) > YOUNG)
        && owner::is_own(path)
        && liveness::may_live(pid, None, &[path]).is_none()
}

/// A git that it had started may live longer than it did.
fn is_empty_of_processes(scene: &Scene<'_>, path: &Path) -> bool {
    let resolved = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match &scene.host.processes {
        Fact::Known(processes) => processes.inside(&[resolved]).iter().all(Vec::is_empty),
        Fact::Unknown(_) | Fact::NotApplicable | Fact::NotAsked => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{of_half_a_file, of_quarantine};

    #[test]
    fn only_names_that_the_program_gives_name_a_process() {
        for (name, pid) in [
            (".seen.4711-0", Some(4711)),
            (".intent.json.4711-12", Some(4711)),
            ("fetched.4711", Some(4711)),
            ("fetched", None),
            ("seen", None),
            (".seen.4711", None),
            (".seen.0-1", None),
            (".seen.-4-1", None),
            ("seen.4711-0", None),
        ] {
            assert_eq!(of_half_a_file(name), pid, "{name}");
        }
        assert_eq!(of_quarantine("git-shadow-merge-4711-aBc123"), Some(4711));
        assert_eq!(of_quarantine("git-shadow-merge-aBc123"), None, "made before the names had a process");
        assert_eq!(of_quarantine("other-4711-a"), None);
    }
}
