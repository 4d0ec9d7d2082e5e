//! Bringing the bases up to date, and how old what is known of them is.
//!
//! A fetch here takes the bases' refspecs and nothing else: no tags, no pruning, no maintenance, no submodules, no
//! `refs/remotes/<r>/HEAD`. It leaves `FETCH_HEAD` alone: that may be the only name of a commit somebody has fetched.
//! When it ended well is kept in `<common dir>/shadow/fetched` instead, a line a ref: a fetch that brings nothing new
//! leaves no other trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};

use super::{Git, Repository, bases};
use crate::error::{Error, Result, chain};
use crate::model::{Base, Timestamp, bytes};
use crate::sys;

const OPTIONS: &[&str] = &[
    "fetch",
    "--quiet",
    // Only the refspecs that are given are stored.
    "--refmap=",
    "--no-tags",
    "--no-prune",
    "--no-prune-tags",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--no-write-commit-graph",
    "--no-write-fetch-head",
    "--",
];

/// How many remotes of a repository are asked at once: they are waited for, which costs nothing.
const REMOTES: usize = 4;

/// Fetch the remote-tracking bases, `timeout` for each remote, several at once. What went wrong, in git's own words; one
/// remote that fails does not keep the others.
pub fn fetch_bases(repo: &Repository, bases: &[Base], timeout: Duration) -> Vec<Error> {
    let gix = repo.local();
    let mut wanted: BTreeMap<BString, Vec<(&BStr, BString)>> = BTreeMap::new();
    let mut errors = Vec::new();
    for base in bases.iter().filter(|base| base.name.starts_with(b"refs/remotes/")) {
        match refspec_for(&gix, base.name.as_ref()) {
            Some((remote, refspec)) => wanted.entry(remote).or_default().push((base.name.as_ref(), refspec)),
            None => errors.push(unmapped(base)),
        }
    }
    let wanted: Vec<_> = wanted.into_iter().collect();
    let fetched = sys::threads::map(REMOTES, &wanted, |(remote, wanted)| {
        let fetched = fetch(repo, remote, wanted.iter().map(|(_, refspec)| refspec), timeout);
        fetched.map_err(|error| error.context(format!("fetching from '{remote}'")))
    });
    let mut names: Vec<&BStr> = Vec::new();
    for ((_, wanted), fetched) in wanted.iter().zip(fetched) {
        match fetched {
            Ok(()) => names.extend(wanted.iter().map(|(name, _)| *name)),
            Err(error) => errors.push(error),
        }
    }
    errors.extend(remember(repo, &names).err());
    errors
}

fn unmapped(base: &Base) -> Error {
    Error::failed("fetch", format!("no remote is configured to fetch '{}'", base.name))
}

fn fetch<'a>(
    repo: &Repository,
    remote: &BString,
    refspecs: impl Iterator<Item = &'a BString>,
    timeout: Duration,
) -> Result<()> {
    let mut args: Vec<BString> = OPTIONS.iter().map(|option| BString::from(*option)).collect();
    args.push(remote.clone());
    args.extend(refspecs.cloned());
    let args = args.into_iter().map(to_path).collect::<Result<Vec<_>>>()?;
    let follow = to_path(format!("remote.{remote}.followRemoteHEAD").into())?;
    // A relative URL counts from the checkout.
    let git = Git::new(repo.path(), args).env("GIT_DIR", repo.common_dir());
    let git = git.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", follow).env("GIT_CONFIG_VALUE_0", "never");
    git.timeout(timeout).run().map(|_| ())
}

fn to_path(argument: BString) -> Result<PathBuf> {
    let shown = argument.to_string();
    gix::path::from_bstring(argument)
        .map_err(|e| Error::failed("fetch", format!("'{shown}' cannot be passed to git: {}", chain(&e))))
}

/// The remote that fetches into a remote-tracking ref, and the refspec for this ref alone, as forced as configured.
fn refspec_for(gix: &gix::Repository, full: &BStr) -> Option<(BString, BString)> {
    let config = gix.config_snapshot();
    let own = bases::remote_of(gix, full);
    let mut remotes: Vec<BString> = gix.remote_names().into_iter().collect();
    remotes.sort_by_key(|name| Some(name) != own.as_ref());
    remotes.into_iter().find_map(|remote| {
        let sections = config.plumbing().sections_by_name("remote").into_iter().flatten();
        let own = sections.filter(|section| section.header().subsection_name() == Some(remote.as_ref()));
        let refspec = own.flat_map(|section| section.values("fetch")).find_map(|spec| narrowed(spec.as_ref(), full))?;
        Some((remote.clone(), refspec))
    })
}

/// Whether a fetch from the remote brings its branch `from` to the ref `to`.
pub fn brings(gix: &gix::Repository, remote: &BStr, from: &BStr, to: &BStr) -> bool {
    refspec_for(gix, to).is_some_and(|(of, refspec)| {
        let source = refspec.strip_prefix(b"+").unwrap_or(&refspec);
        of == remote && source.split_once_str(b":").is_some_and(|(source, _)| source == from.as_bytes())
    })
}

/// `+refs/heads/main:refs/remotes/origin/main` of `+refs/heads/*:refs/remotes/origin/*`.
fn narrowed(refspec: &BStr, destination: &BStr) -> Option<BString> {
    let (force, spec) = match refspec.strip_prefix(b"+") {
        Some(spec) => ("+", spec),
        None => ("", refspec.as_bytes()),
    };
    let (from, to) = spec.split_once_str(b":")?;
    let from = match (from.split_once_str(b"*"), to.split_once_str(b"*")) {
        (Some((before, after)), Some((prefix, suffix))) => {
            let name = destination.strip_prefix(prefix)?.strip_suffix(suffix)?;
            [before, name, after].concat()
        }
        (None, None) if to == destination.as_bytes() => from.to_vec(),
        _ => return None,
    };
    Some([force.as_bytes(), &from, b":", destination].concat().into())
}

/// When a ref was last known to be what its remote has: the newest of its own reflog, a `FETCH_HEAD` (every worktree
/// has one) that names its value, and our own fetches. `None` for local branches, and where nothing says.
pub(super) fn fetched_at(repo: &Repository, gix: &gix::Repository, name: &BStr, tip: ObjectId) -> Option<Timestamp> {
    if !name.starts_with(b"refs/remotes/") {
        return None;
    }
    let mut newest = remembered(repo).get(name).copied().max(reflog_time(gix, name));
    for file in fetch_heads(repo.common_dir()) {
        let modified = fs_err::metadata(&file).and_then(|m| m.modified()).ok();
        let modified = modified.and_then(|time| Timestamp::try_from(time).ok());
        if modified > newest && names(&file, tip) {
            newest = modified;
        }
    }
    newest
}

fn reflog_time(gix: &gix::Repository, name: &BStr) -> Option<Timestamp> {
    let reference = gix.try_find_reference(name).ok()??;
    let mut log = reference.log_iter();
    let last = log.rev().ok()??.next()?.ok()?;
    Timestamp::from_second(last.signature.time.seconds).ok()
}

fn fetch_heads(common_dir: &Path) -> Vec<PathBuf> {
    let registrations = fs_err::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    let mut directories: Vec<PathBuf> = registrations.map(|entry| entry.path()).collect();
    directories.push(common_dir.to_owned());
    directories.into_iter().map(|directory| directory.join("FETCH_HEAD")).collect()
}

/// Whether a `FETCH_HEAD` has a line for this commit: a fetch of something else says nothing.
fn names(fetch_head: &Path, tip: ObjectId) -> bool {
    let tip = tip.to_string();
    fs_err::read(fetch_head).is_ok_and(|text| text.lines().any(|line| line.starts_with(tip.as_bytes())))
}

fn memory(repo: &Repository) -> PathBuf {
    repo.shadow_dir().join("fetched")
}

/// Our own fetches: `<seconds> <ref>` a line. What cannot be read is not known, so the base only looks older.
fn remembered(repo: &Repository) -> BTreeMap<BString, Timestamp> {
    let text = fs_err::read_to_string(memory(repo)).unwrap_or_default();
    let entry = |line: &str| {
        let (seconds, name) = line.split_once(' ')?;
        Some((bytes::decode(name)?, Timestamp::from_second(seconds.parse().ok()?).ok()?))
    };
    text.lines().filter_map(entry).collect()
}

fn remember(repo: &Repository, names: &[&BStr]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let mut known = remembered(repo);
    known.extend(names.iter().map(|name| ((*name).to_owned(), sys::clock::now())));
    let text: String =
        known.iter().map(|(name, time)| format!("{} {}\n", time.as_second(), bytes::encode(name))).collect();
    let path = memory(repo);
    fs_err::create_dir_all(repo.shadow_dir())?;
    // Renamed into place, so that a reader never sees half of it.
    let fresh = path.with_extension(std::process::id().to_string());
    fs_err::write(&fresh, text)?;
    Ok(fs_err::rename(&fresh, &path)?)
}

#[cfg(test)]
mod tests {
    use super::narrowed;

    #[test]
    fn a_refspec_is_narrowed_to_one_ref() {
        for (refspec, to, narrow) in [
            ("+refs/heads/*:refs/remotes/o/*", "refs/remotes/o/main", Some("+refs/heads/main:refs/remotes/o/main")),
            ("refs/heads/*:refs/remotes/o/*", "refs/remotes/o/a/b", Some("refs/heads/a/b:refs/remotes/o/a/b")),
            ("+refs/heads/v:refs/remotes/o/v", "refs/remotes/o/v", Some("+refs/heads/v:refs/remotes/o/v")),
            ("+refs/heads/v:refs/remotes/o/v", "refs/remotes/o/main", None),
            ("+refs/x/*-y:refs/remotes/o/*-z", "refs/remotes/o/a-z", Some("+refs/x/a-y:refs/remotes/o/a-z")),
            ("^refs/heads/x", "refs/remotes/o/x", None),
            ("refs/heads/main", "refs/remotes/o/main", None),
        ] {
            assert_eq!(
                narrowed(refspec.into(), to.into()).as_ref().map(|n| n.to_string()).as_deref(),
                narrow,
                "{refspec}"
            );
        }
    }
}
