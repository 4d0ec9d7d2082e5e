//! `<common dir>/worktrees/*`, read directly: what git and gix list leaves out registrations without a `gitdir` file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};

use crate::error::{Error, Result};
use crate::git::Repository;
use crate::git::refs::{Refs, Target};
use crate::model::{Head, Registration, Timestamp};

/// All registrations, sorted by id.
///
/// # Errors
/// When the directory cannot be listed; a single one that cannot be read says so itself.
pub fn registrations(repo: &Repository, refs: &Refs) -> Result<Vec<Registration>> {
    let bad = |error: &dyn std::fmt::Display| Error::fatal("bad-registrations", error.to_string());
    let mut found = Vec::new();
    for git_dir in listed(repo.common_dir()).map_err(|e| bad(&e))? {
        // A link to one is one for git too.
        if fs_err::metadata(&git_dir).is_ok_and(|found| found.is_dir()) {
            let id = git_dir.file_name().unwrap_or_default().to_owned();
            found.push(read(refs, &git_dir, gix::path::os_string_into_bstring(id).map_err(|e| bad(&e))?));
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// What is in the folder of registrations; nothing where there is none.
fn listed(common_dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    match fs_err::read_dir(common_dir.join("worktrees")) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// The worktrees that the repository of this common directory has registered; none where there is no repository any more.
///
/// # Errors
/// When the registrations cannot be listed.
pub fn registered_paths(common_dir: &Path) -> Result<Vec<PathBuf>> {
    match listed(common_dir) {
        Ok(git_dirs) => Ok(git_dirs.iter().filter_map(|git_dir| worktree_path(git_dir)).collect()),
        Err(e) if e.kind() == ErrorKind::NotADirectory => Ok(Vec::new()),
        Err(e) => Err(e.into()),
    }
}

fn read(refs: &Refs, git_dir: &Path, id: BString) -> Registration {
    let head = head(git_dir, refs);
    let (names, unread) = names(git_dir, refs);
    Registration { id, git_dir: git_dir.to_owned(), path: worktree_path(git_dir), head, names, unread }
}

/// When it was registered: git writes `commondir` once.
///
/// # Errors
/// When the file cannot be read.
pub fn created(registration: &Registration) -> Result<Timestamp> {
    let file = registration.git_dir.join("commondir");
    let changed = fs_err::symlink_metadata(&file)?.modified()?;
    Timestamp::try_from(changed).map_err(|e| Error::failed("time", format!("'{}': {e}", file.display())))
}

/// The worktree that `gitdir` names, without its `.git`. A path of another system (`C:/…`) stays as it is.
fn worktree_path(git_dir: &Path) -> Option<PathBuf> {
    let written = fs_err::read(git_dir.join("gitdir")).ok()?;
    let written = written.trim_end();
    if written.is_empty() {
        return None;
    }
    let link = gix::path::from_bstr(written.as_bstr()).ok()?.into_owned();
    let foreign = written.get(1) == Some(&b':') && written[0].is_ascii_alphabetic();
    let link = if link.is_absolute() || foreign { link } else { clean(&git_dir.join(link)) };
    let named_git = link.file_name().is_some_and(|name| name == ".git");
    Some(if named_git { link.parent()?.to_owned() } else { link })
}

/// Without `.` and `..`, by name only: the path may not exist.
fn clean(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

fn head(git_dir: &Path, refs: &Refs) -> Head {
    let file = git_dir.join("HEAD");
    let text = match head_text(&file) {
        Ok(text) => text,
        Err(e) => return Head::Broken(e.to_string()),
    };
    let Some(name) = text.strip_prefix(b"ref:") else {
        return ObjectId::from_hex(text.trim())
            .map_or_else(|_| Head::Broken(format!("'{}' is no ref and no commit", file.display())), Head::Detached);
    };
    let name = BString::from(name.trim());
    if !name.starts_with(b"refs/heads/") {
        return Head::Broken(format!("'{}' points outside refs/heads: '{name}'", file.display()));
    }
    match refs.heads.get(&name) {
        Some(Target::Broken(error)) => Head::Broken(error.clone()),
        Some(Target::Object(_) | Target::Symbolic(_)) | None => {
            let commit = refs.resolve(name.as_bstr()).map(|(_, id)| id);
            Head::Branch(name, commit)
        }
    }
}

/// What HEAD says. Old git, and `core.preferSymlinkRefs`, make it a link to the ref; what that holds is not HEAD's value.
fn head_text(file: &Path) -> std::io::Result<Vec<u8>> {
    if let Ok(target) = fs_err::read_link(file)
        && target.starts_with("refs")
    {
        return Ok([b"ref: ", target.as_os_str().as_encoded_bytes()].concat());
    }
    fs_err::read(file)
}

/// Every branch that a git directory names, and the first of its state files that could not be read.
pub fn names(git_dir: &Path, refs: &Refs) -> (Vec<(BString, &'static str)>, Option<String>) {
    let mut names: Vec<(BString, &'static str)> = Vec::new();
    let mut unread = None;
    match head(git_dir, refs) {
        Head::Branch(name, _) => names.push((name, "checked out")),
        Head::Detached(_) => {}
        Head::Broken(error) => {
            unread = Some(error);
            names.extend(last_checked_out(git_dir, refs).into_iter().map(|name| (name, "checked out")));
        }
    }
    let mut add =
        |file: &str, how: &'static str, pick: fn(&[u8]) -> Vec<BString>| match fs_err::read(git_dir.join(file)) {
            Ok(text) => names.extend(pick(&text).into_iter().map(|name| (name, how))),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(e) => unread = unread.take().or(Some(e.to_string())),
        };
    add("rebase-merge/head-name", "being rebased", one_ref);
    add("rebase-apply/head-name", "being rebased", one_ref);
    add("rebase-merge/update-refs", "updated by a rebase", update_refs);
    add("BISECT_START", "being bisected", bisect_start);
    (names, unread)
}

/// Where a HEAD that cannot be read last was, by its reflog: that branch is still held by this worktree. A worktree that
/// never switched may have any branch that is where its HEAD was.
fn last_checked_out(git_dir: &Path, refs: &Refs) -> Vec<BString> {
    let Ok(log) = fs_err::read(git_dir.join("logs/HEAD")) else { return Vec::new() };
    let switched = log.lines().rfind(|line| line.contains_str("\tcheckout: moving from "));
    if let Some(name) = switched.and_then(|line| line.rsplit_str(" to ").next()) {
        return vec![[b"refs/heads/", name].concat().into()];
    }
    let last = log.lines().next_back().and_then(|line| ObjectId::from_hex(line.split_str(" ").nth(1)?).ok());
    let there = |name: &&BString| last.is_some() && refs.resolve(name.as_bstr()).map(|(_, id)| id) == last;
    refs.heads.keys().filter(there).cloned().collect()
}

fn one_ref(text: &[u8]) -> Vec<BString> {
    let name = text.trim();
    if name.starts_with(b"refs/heads/") { vec![name.into()] } else { Vec::new() }
}

/// Three lines a ref: its name, the old and the new value.
fn update_refs(text: &[u8]) -> Vec<BString> {
    text.lines().step_by(3).flat_map(one_ref).collect()
}

/// A commit, or a branch's short name.
fn bisect_start(text: &[u8]) -> Vec<BString> {
    let name = text.trim();
    if name.starts_with(b"refs/heads/") {
        return vec![name.into()];
    }
    match ObjectId::from_hex(name) {
        Ok(_) => Vec::new(),
        Err(_) => vec![[b"refs/heads/", name].concat().into()],
    }
}
