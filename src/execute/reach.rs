//! What of some commits no ref reaches.

use std::collections::HashSet;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use crate::error::{Error, Result, chain};
use crate::git::Repository;

/// How far back from the tips to look before git is asked.
const NEAR: usize = 512;

/// Of `commits`, the heads of what is reachable neither from `safe` nor from a ref outside `refs/shadow`; and those
/// whose history is incomplete, which no ref may name without breaking `git gc`.
pub(super) fn only_from(
    repo: &Repository,
    commits: &[ObjectId],
    safe: &HashSet<ObjectId>,
) -> Result<(Vec<ObjectId>, Vec<ObjectId>)> {
    let mut left: HashSet<ObjectId> = commits.iter().copied().filter(|id| !safe.contains(id)).collect();
    near(repo, safe, &mut left);
    if left.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let hidden = refs_outside(repo, |name| !name.starts_with(b"refs/shadow/"))?;
    let hidden: HashSet<ObjectId> = hidden.into_iter().chain(safe.iter().copied()).collect();
    let mut left: Vec<ObjectId> = left.into_iter().filter(|id| !hidden.contains(id)).collect();
    left.sort_unstable();
    let mut broken = Vec::new();
    if !is_whole(repo, &left, &hidden)? {
        for id in std::mem::take(&mut left) {
            if is_whole(repo, &[id], &hidden)? { left.push(id) } else { broken.push(id) }
        }
    }
    let found = walk(repo, &["--parents"], &left, &hidden)?;
    let mut heads = Vec::new();
    let mut children = HashSet::new();
    for line in found.lines() {
        let mut ids = line.fields().filter_map(|word| ObjectId::from_hex(word).ok());
        heads.extend(ids.next());
        children.extend(ids);
    }
    heads.retain(|id| !children.contains(id));
    Ok((heads, broken))
}

/// Whether the refs that pass `which` reach the commit.
pub(crate) fn is_reached(repo: &Repository, id: ObjectId, which: impl Fn(&[u8]) -> bool) -> Result<bool> {
    let hidden: HashSet<ObjectId> = refs_outside(repo, which)?.into_iter().collect();
    if hidden.contains(&id) {
        return Ok(true);
    }
    let local = repo.local();
    let kind = local.find_header(id).map_err(|e| Error::failed("refs", chain(&e)))?.kind();
    Ok(kind == gix::objs::Kind::Commit && walk(repo, &["--max-count=1"], &[id], &hidden)?.trim().is_empty())
}

/// Most reflogs only name ancestors of their tip: take those out without starting a process.
fn near(repo: &Repository, tips: &HashSet<ObjectId>, left: &mut HashSet<ObjectId>) {
    let local = repo.local();
    let Ok(walk) = local.rev_walk(tips.iter().copied()).all() else { return };
    for commit in walk.take(NEAR) {
        // What cannot be read here is asked of git.
        let Ok(commit) = commit else { return };
        left.remove(&commit.id);
        if left.is_empty() {
            return;
        }
    }
}

/// The values of all refs that pass.
fn refs_outside(repo: &Repository, which: impl Fn(&[u8]) -> bool) -> Result<Vec<ObjectId>> {
    let unread = |e: &dyn std::error::Error| Error::failed("refs", format!("cannot read the refs: {}", chain(e)));
    let local = repo.local();
    let mut found = Vec::new();
    for reference in local.references().map_err(|e| unread(&e))?.all().map_err(|e| unread(&e))? {
        let reference = reference.map_err(|e| Error::failed("refs", format!("cannot read a ref: {e}")))?;
        if which(reference.name().as_bstr()) {
            // A ref whose object is missing reaches nothing.
            found.extend(reference.target().try_id().filter(|id| local.has_object(id)).map(ToOwned::to_owned));
        }
    }
    Ok(found)
}

/// Whether all that these need, and the others do not reach, is there.
fn is_whole(repo: &Repository, from: &[ObjectId], without: &HashSet<ObjectId>) -> Result<bool> {
    let found = walk(repo, &["--objects", "--missing=print"], from, without)?;
    Ok(!found.lines().any(|line| line.starts_with(b"?")))
}

/// `git rev-list` from some objects without what others reach.
fn walk(repo: &Repository, how: &[&str], from: &[ObjectId], without: &HashSet<ObjectId>) -> Result<Vec<u8>> {
    if from.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = String::new();
    from.iter().for_each(|id| input.push_str(&format!("{id}\n")));
    without.iter().for_each(|id| input.push_str(&format!("^{id}\n")));
    repo.git([&["rev-list", "--stdin"], how].concat()).input(input).run()
}
