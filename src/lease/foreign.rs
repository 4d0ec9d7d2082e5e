//! Leases that the aos harness writes, `agentic-os.native-lease.v1`: read, never written, every oddity borne.

use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice as _};
use serde_json::{Map, Value};

use super::{Artifact, Record, Unclear, liveness};
use crate::model::{Lease, LeaseState, Timestamp};

const FORMAT: &str = "agentic-os.native-lease.v1";

/// All leases of a folder: what they say, and what could not be understood.
pub(super) fn read(folder: &Path, now: Timestamp) -> (Vec<Record>, Vec<Unclear>) {
    super::read_all(folder, |path, text| parse(path, text, now))
}

fn parse(path: &Path, text: &[u8], now: Timestamp) -> Result<Record, String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let fields = value.as_object().ok_or("no object")?;
    let format = fields.get("format").and_then(Value::as_str).unwrap_or_default();
    if format != FORMAT {
        return Err(format!("unknown lease format '{format}'"));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = string(fields, "id").unwrap_or(&stem).to_owned();
    let artifacts = artifacts(fields)?;
    let folders = ["session_root", "session_projects"].map(|name| string(fields, name).map(Path::new));
    let folders = folders.into_iter().flatten().filter(|path| path.is_absolute()).map(super::resolve).collect();
    let pid = fields.get("pid").and_then(number);
    let released = fields.get("released").unwrap_or(&Value::Null);
    let finished = time(released);
    let state = if finished.is_some() || *released == Value::Bool(true) {
        LeaseState::Released
    } else {
        state(path, pid, string(fields, "process_start"), &artifacts)
    };
    let times = fields.values().filter_map(time);
    let newest = times.map(|time| time.min(now)).max();
    let ended = finished.or(fields.get("dead_since").and_then(time));
    let worktrees = artifacts.iter().flat_map(|a| a.written.clone()).collect();
    let branches = artifacts.iter().filter_map(|a| a.branch.clone()).collect();
    let session_root = string(fields, "session_root").map(PathBuf::from);
    let mut repositories: Vec<PathBuf> = artifacts.iter().flat_map(|a| a.repositories.clone()).collect();
    repositories.sort();
    repositories.dedup();
    let (format, path) = (format.into(), path.into());
    let lease =
        Lease { id, format, path, pid, state, finished, newest, worktrees, repositories, session_root, branches };
    Ok(Record { lease, artifacts, folders, acquired: None, ended })
}

fn state(path: &Path, pid: Option<i64>, start: Option<&str>, artifacts: &[Artifact]) -> LeaseState {
    let Some(pid) = pid else {
        return LeaseState::Live("it names no process that can be looked for".into());
    };
    if pid <= 0 {
        return LeaseState::Dead;
    }
    let worktrees = artifacts.iter().flat_map(|artifact| artifact.worktrees.iter().map(PathBuf::as_path));
    let places: Vec<&Path> = std::iter::once(path).chain(worktrees).collect();
    liveness::may_live(pid, start, &places).map_or(LeaseState::Dead, LeaseState::Live)
}

fn artifacts(fields: &Map<String, Value>) -> Result<Vec<Artifact>, String> {
    let bases =
        ["session_projects", "session_root", "original_cwd"].map(|name| string(fields, name).map(PathBuf::from));
    let all = |written: &str| -> Vec<PathBuf> {
        let path = Path::new(written);
        let from = bases.iter().flatten().map(|base| base.join(path));
        // A relative path says not from where.
        let paths = if path.is_absolute() { vec![path.to_owned()] } else { from.collect() };
        // `.git` of a checkout stands for the checkout.
        let checkout = |path: PathBuf| match path.parent() {
            Some(parent) if path.file_name().is_some_and(|name| name == ".git") => parent.to_owned(),
            Some(_) | None => path,
        };
        paths.iter().map(|path| checkout(super::resolve(path))).collect()
    };
    let entries = match fields.get("artifacts") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err("its artifacts cannot be read".into()),
    };
    let artifact = |entry: &Value| {
        let entry = entry.as_object().ok_or("an artifact cannot be read")?;
        let written = string(entry, "worktree");
        let branch = string(entry, "branch").map(|name| name.strip_prefix("refs/heads/").unwrap_or(name));
        Ok(Artifact {
            repositories: string(entry, "repository").map(all).unwrap_or_default(),
            worktrees: written.map(all).unwrap_or_default(),
            written: written.map(PathBuf::from),
            branch: branch.map(BString::from),
        })
    };
    entries.iter().map(artifact).collect()
}

/// A field that says something.
fn string<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A time; the zero time of the program that writes them means none.
fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.trim().parse::<Timestamp>().ok().filter(|time| *time > Timestamp::UNIX_EPOCH)
}

/// What a text that could not be understood says of a shadow.
pub(super) fn mentions(text: &[u8], names: &[&[u8]]) -> bool {
    names.iter().any(|name| !name.is_empty() && text.contains_str(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn lease(fields: &str) -> Result<Record, String> {
        let text = format!(r#"{{"format":"{FORMAT}",{fields}}}"#);
        parse(Path::new("/l/ab45.json"), text.as_bytes(), "2026-01-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn released_is_a_time_or_a_word() {
        for (released, state) in [
            ("true", LeaseState::Released),
            ("\"2025-05-01T10:00:00Z\"", LeaseState::Released),
            ("\"2025-05-01T10:00:00.123456789+02:00\"", LeaseState::Released),
            ("false", LeaseState::Dead),
            ("null", LeaseState::Dead),
            ("\"\"", LeaseState::Dead),
            ("\"0001-01-01T00:00:00Z\"", LeaseState::Dead),
            ("\"soon\"", LeaseState::Dead),
            ("1", LeaseState::Dead),
        ] {
            assert_eq!(lease(&format!(r#""pid":0,"released":{released}"#)).unwrap().lease.state, state, "{released}");
        }
    }

    #[test]
    fn without_a_process_it_is_dead_but_one_that_is_not_named_may_live() {
        assert_eq!(lease(r#""pid":0"#).unwrap().lease.state, LeaseState::Dead);
        assert_eq!(lease(r#""pid":"-1""#).unwrap().lease.state, LeaseState::Dead);
        for unclear in [r#""id":"ab45""#, r#""pid":null"#, r#""pid":"x""#, r#""pid":1.5"#, r#""pid":9999999999"#] {
            assert!(lease(unclear).unwrap().lease.is_live(), "{unclear}");
        }
    }

    #[test]
    fn the_newest_time_is_never_in_the_future() {
        let times = r#""pid":0,"dead_since":"2025-12-01T00:00:00Z","a":"2025-11-01T00:00:00Z","id":"ab45""#;
        assert_eq!(lease(times).unwrap().lease.newest, Some("2025-12-01T00:00:00Z".parse().unwrap()));
        let future = r#""pid":0,"dead_since":"2035-12-01T00:00:00Z""#;
        assert_eq!(lease(future).unwrap().lease.newest, Some("2026-01-01T00:00:00Z".parse().unwrap()));
        assert_eq!(lease(r#""pid":0"#).unwrap().lease.newest, None);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for bad in [r#""artifacts":{}"#, r#""artifacts":["x"]"#] {
            assert!(lease(bad).is_err(), "{bad}");
        }
        assert!(lease(r#""artifacts":null"#).is_ok());
        assert!(parse(Path::new("/l/a.json"), b"", Timestamp::UNIX_EPOCH).is_err());
        assert!(parse(Path::new("/l/a.json"), b"[]", Timestamp::UNIX_EPOCH).is_err());
        assert!(
            parse(Path::new("/l/a.json"), br#"{"format":"agentic-os.native-lease.v2"}"#, Timestamp::UNIX_EPOCH)
                .is_err()
        );
    }

    #[test]
    fn relative_paths_are_looked_for_in_the_session() {
        let record = lease(
            r#""pid":0,"session_projects":"/nowhere/p","artifacts":[{"worktree":"o/n","branch":"refs/heads/aos/x"}]"#,
        );
        let artifact = record.unwrap().artifacts.remove(0);
        assert_eq!(artifact.worktrees, [Path::new("/nowhere/p/o/n")]);
        assert_eq!(artifact.branch, Some("aos/x".into()));
    }
}
