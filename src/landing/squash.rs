//! Squash: merging the tip into the parent of a commit gives exactly that commit, and the commit changes something.
//! The same question about one commit instead of a tip is a replay (`rebase`, `partial`).

use super::diff::{ABSENT, EntryId};
use super::edits;
use super::line::Depth;
use super::scene::Scene;
use super::search::{Candidate, Content, Search};
use crate::error::Result;

/// What the index says: is the commit at this depth what merging the change into its parent gives?
///
/// `b` is a path in the merge base, `t` in the tip, `o` in the commit's parent and `r` in the commit. Where git could
/// give `r` only by a rename, git is asked rather than trusting a rule of thumb.
pub(super) fn candidate(scene: &mut Scene<'_, '_>, search: &Search, depth: Depth) -> Result<Candidate> {
    let Some(step) = scene.index.step(depth) else { return Ok(Candidate::No) };
    if step.others || step.delta.is_empty() {
        return Ok(Candidate::No);
    }
    // The same change of the same entries: in the parent nothing of it had moved, so no merge can give another tree.
    if search.base.is_some() && step.delta == *search.delta {
        return Ok(Candidate::Yes);
    }
    let (deletes, single) = (search.delta.deletes(), search.base.is_some());
    // Whether nothing but changes inside files is left for a merge: no path that could be half of a rename.
    let mut plain = single && !deletes;
    let mut contents = Vec::new();
    for change in &step.delta.changes {
        let (o, r) = (change.old, change.new);
        let Some(ours) = search.delta.get(change.path) else {
            if search.renamed.contains(&change.path) {
                contents.push(Content { base: None, ours: o, theirs: r, result: r });
                plain = false;
                continue;
            }
            return Ok(Candidate::No);
        };
        let (b, t) = (ours.old, ours.new);
        if !single {
            contents.push(Content { base: None, ours: o, theirs: t, result: r });
        } else if o == b {
            if r != t && !(b == ABSENT && deletes) {
                return Ok(Candidate::No);
            }
        } else if t == o || !merges(scene, (b, o, t, r), deletes, &mut contents) {
            return Ok(Candidate::No);
        }
    }
    let step_has = |scene: &Scene<'_, '_>, path| scene.index.step(depth).is_some_and(|s| s.delta.get(path).is_some());
    for change in &search.delta.changes {
        if step_has(scene, change.path) {
            continue;
        }
        let (b, t) = (change.old, change.new);
        let o = scene.entry_at(change.path, depth)?;
        plain &= o == t && b != ABSENT;
        if o == t {
            continue;
        }
        let renamed = o == ABSENT && !search.renamed.is_empty();
        if single && !renamed && (o == b || !merges(scene, (b, o, t, o), deletes, &mut contents)) {
            return Ok(Candidate::No);
        }
    }
    if plain && contents.iter().all(|content| apart(scene, content)) {
        return Ok(Candidate::Yes);
    }
    Ok(Candidate::Ask(contents))
}

/// Whether both changes of a file are so plainly apart that `result` is what every merge gives.
fn apart(scene: &Scene<'_, '_>, content: &Content) -> bool {
    let Some(base) = content.base else { return false };
    let world = &*scene.world;
    let entries = [base, content.ours, content.theirs, content.result].map(|entry| world.catalog.get(entry));
    let [Some(base), Some(ours), Some(theirs), Some(result)] = entries else { return false };
    if [ours, theirs, result].iter().any(|(mode, _)| *mode != base.0) {
        return false;
    }
    // What cannot be read is for git to fail on.
    let read = |(_, id): (u16, gix::ObjectId)| world.repo.find_object(id).ok();
    match (read(base), read(ours), read(theirs), read(result)) {
        (Some(base), Some(ours), Some(theirs), Some(result)) => {
            edits::are_apart(&base.data, &ours.data, &theirs.data, &result.data)
        }
        _ => false,
    }
}

/// Whether git may make `r` of two different changes of a path.
fn merges(
    scene: &Scene<'_, '_>,
    (b, o, t, r): (EntryId, EntryId, EntryId, EntryId),
    deletes: bool,
    contents: &mut Vec<Content>,
) -> bool {
    if t == ABSENT {
        // Deleted against changed is a conflict, unless it was renamed; then it is gone.
        return r == ABSENT;
    }
    if o == ABSENT || r == ABSENT {
        return false;
    }
    if b == ABSENT {
        // Added twice is a conflict, unless one of them is a renamed file.
        return deletes;
    }
    let file = |entry| scene.world.catalog.file(entry).is_some();
    if [b, o, t, r].into_iter().all(file) {
        contents.push(Content { base: Some(b), ours: o, theirs: t, result: r });
        return true;
    }
    false
}
