//! Which refs under `refs/shadow/kept/` keep what a release could make unreachable: tips, HEAD, every object that the
//! registration names, and the heads of what only the dying reflogs reach.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::Kind;

use super::reach;
use crate::error::{Error, Result, chain};
use crate::git::{Git, RefEdit, Repository, read_ref, update_refs};
use crate::journal::NamedRef;

/// More objects than this are held together by one ref.
const ALONE: usize = 16;

/// What is about to lose its refs.
#[derive(Debug, Default)]
pub(super) struct Dying<'a> {
    /// The tips of the branches.
    pub(super) tips: Vec<ObjectId>,
    /// The registration's HEAD.
    pub(super) head: Option<ObjectId>,
    /// The registration and its files.
    pub(super) registration: Option<(&'a Path, &'a std::collections::BTreeMap<PathBuf, Vec<u8>>)>,
    /// The reflogs of the branches.
    pub(super) reflogs: Vec<&'a [u8]>,
}

/// The pins for it, and the ids whose object is missing already. Objects that hold many others together are written;
/// no ref is.
pub(super) fn collect(repo: &Repository, prefix: &str, dying: &Dying<'_>) -> Result<(Vec<NamedRef>, Vec<String>)> {
    let mut pins = Vec::new();
    let mut pin = |name: String, at: ObjectId| pins.push(NamedRef { name: format!("{prefix}{name}").into(), at });
    match dying.tips.as_slice() {
        [] => {}
        [tip] => pin("tip".into(), *tip),
        tips => tips.iter().enumerate().for_each(|(i, tip)| pin(format!("tip-{i}"), *tip)),
    }
    if let Some(head) = dying.head {
        pin("head".into(), head);
    }

    let mut named = BTreeSet::new();
    let mut logged = BTreeSet::new();
    for log in &dying.reflogs {
        logged.extend(ids(log, repo));
    }
    if let Some((git_dir, contents)) = dying.registration {
        for (path, bytes) in contents {
            if path.starts_with("logs") {
                logged.extend(ids(bytes, repo));
            } else if !is_index(path) {
                named.extend(ids(bytes, repo));
            }
        }
        named.extend(index_objects(repo, git_dir, dying.head)?);
    }

    let local = repo.local();
    let (mut commits, mut objects, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for id in named.iter().chain(logged.difference(&named)) {
        let header = local.try_find_header(*id).map_err(|e| Error::failed("pins", chain(&e)))?;
        match header.map(|header| header.kind()) {
            None if id.is_null() || *id == ObjectId::empty_tree(id.kind()) => {}
            None => missing.push(id.to_string()),
            Some(Kind::Commit) => commits.push(*id),
            Some(Kind::Tag | Kind::Tree | Kind::Blob) => objects.push(*id),
        }
    }
    let safe: HashSet<ObjectId> = dying.tips.iter().copied().chain(dying.head).collect();
    let (heads, broken) = reach::only_from(repo, &commits, &safe)?;
    missing.extend(broken.iter().map(ObjectId::to_string));
    // What a reflog names is history; what only the registration names is proved again before it may be dropped.
    let (history, own): (Vec<_>, Vec<_>) = heads.into_iter().partition(|id| logged.contains(id));
    hold_commits(repo, own)?.into_iter().enumerate().for_each(|(i, id)| pin(format!("object-commit-{i}"), id));
    hold_commits(repo, history)?.into_iter().enumerate().for_each(|(i, id)| pin(format!("reflog-{i}"), id));
    hold_objects(repo, objects)?.into_iter().enumerate().for_each(|(i, id)| pin(format!("object-{i}"), id));
    Ok((pins, missing))
}

/// Make the pins, all or none.
pub(super) fn create(repo: &Repository, pins: &[NamedRef]) -> Result<()> {
    let edits: Vec<_> = pins.iter().map(|pin| RefEdit::Create(pin.name.clone(), pin.at)).collect();
    update_refs(repo, &edits, "git-shadow: keep what is released")
}

/// Take pins away, those that are there.
pub(crate) fn drop(repo: &Repository, pins: &[NamedRef]) -> Result<()> {
    let mut edits = Vec::new();
    for pin in pins {
        if read_ref(repo, pin.name.as_ref())? == Some(pin.at) {
            edits.push(RefEdit::Delete(pin.name.clone(), pin.at));
        }
    }
    update_refs(repo, &edits, "git-shadow: no longer needed")
}

fn is_index(path: &Path) -> bool {
    path.parent() == Some(Path::new(""))
        && path.to_str().is_some_and(|name| name.starts_with("index") || name.starts_with("sharedindex"))
}

/// Every word that has the form of an object id.
fn ids(bytes: &[u8], repo: &Repository) -> Vec<ObjectId> {
    let length = repo.local().object_hash().len_in_hex();
    bytes
        .fields_with(|c| !c.is_ascii_hexdigit())
        .filter(|word| word.len() == length)
        .filter_map(|word| ObjectId::from_hex(word).ok())
        .filter(|id| !id.is_null())
        .collect()
}

/// What an index has beyond HEAD's tree, and what it remembers of resolved conflicts.
fn index_objects(repo: &Repository, git_dir: &Path, head: Option<ObjectId>) -> Result<Vec<ObjectId>> {
    if !git_dir.join("index").exists() {
        return Ok(Vec::new());
    }
    let git = |args: &[&str]| Git::new(git_dir, args).env("GIT_DIR", git_dir).env("GIT_WORK_TREE", git_dir).run();
    let tree = head.unwrap_or_else(|| ObjectId::empty_tree(repo.local().object_hash())).to_string();
    let mut text = git(&["diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", &tree])?;
    text.push(0);
    text.extend(git(&["ls-files", "-z", "--resolve-undo"])?);
    // `:<mode> <mode> <id> <id> <status>` or `<mode> <id> <stage>\t<path>`; paths may look like ids, and are then
    // asked about in vain. The side of HEAD is kept by HEAD. Gitlinks are commits of another repository.
    let mut found = Vec::new();
    for record in text.split(|&byte| byte == 0) {
        let words: Vec<&[u8]> = record.split(|byte| b" \t".contains(byte)).collect();
        let own = match words.as_slice() {
            [old, mode, _, id, _] if old.starts_with(b":") => Some((*mode, *id)),
            [mode, id, ..] if !mode.starts_with(b":") => Some((*mode, *id)),
            _ => None,
        };
        found.extend(own.filter(|(mode, _)| *mode != b"160000").and_then(|(_, id)| ObjectId::from_hex(id).ok()));
    }
    found.retain(|id| !id.is_null());
    Ok(found)
}

/// The commits, or one that has them all as parents.
fn hold_commits(repo: &Repository, commits: Vec<ObjectId>) -> Result<Vec<ObjectId>> {
    if commits.len() <= ALONE {
        return Ok(commits);
    }
    let tree = write(repo, "tree", Vec::new())?;
    let mut text = format!("tree {tree}\n");
    commits.iter().for_each(|id| text.push_str(&format!("parent {id}\n")));
    for role in ["author", "committer"] {
        text.push_str(&format!("{role} git-shadow <git-shadow@localhost> 0 +0000\n"));
    }
    text.push_str("\nHeads that only a reflog reached.\n");
    Ok(vec![write(repo, "commit", text.into_bytes())?])
}

/// The objects, or one tree that has them all.
fn hold_objects(repo: &Repository, objects: Vec<ObjectId>) -> Result<Vec<ObjectId>> {
    if objects.len() <= ALONE {
        return Ok(objects);
    }
    let local = repo.local();
    let mut list = BString::default();
    let mut alone = Vec::new();
    for id in objects {
        let header = local.find_header(id).map_err(|e| Error::failed("pins", chain(&e)))?;
        match header.kind() {
            Kind::Blob => list.extend_from_slice(format!("100644 blob {id}\t{id}\n").as_bytes()),
            Kind::Tree => list.extend_from_slice(format!("040000 tree {id}\t{id}\n").as_bytes()),
            Kind::Tag | Kind::Commit => alone.push(id),
        }
    }
    let said = repo.git(["mktree"]).input(list).run()?;
    alone.push(ObjectId::from_hex(said.trim()).map_err(|e| Error::failed("pins", chain(&e)))?);
    Ok(alone)
}

fn write(repo: &Repository, kind: &str, bytes: Vec<u8>) -> Result<ObjectId> {
    let said = repo.git(["hash-object", "-t", kind, "-w", "--stdin"]).input(bytes).run()?;
    ObjectId::from_hex(said.trim()).map_err(|e| Error::failed("pins", chain(&e)))
}
