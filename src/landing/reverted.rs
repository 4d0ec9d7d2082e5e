//! Reverted: all that a landing changed is as it was before, and not because it was merely deleted later.
//!
//! A commit says that it reverts the landing, or a file went back to what it held before. Absence alone is no revert:
//! code that was added and is deleted one day has landed all the same.

use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};

use super::case::{Case, Proof};
use super::diff::{self, ABSENT, Delta, EntryId, PathId, Visit};
use super::history::Node;
use super::line::Depth;
use super::scene::{Scene, World};
use crate::error::Result;
use crate::model::How;

/// A path that a landing changed.
struct Watched {
    path: PathId,
    before: [EntryId; 2],
    after: EntryId,
}

/// The first commit after a landing at which all of it is undone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undone {
    pub depth: Depth,
    /// The commit that says so.
    pub by: Option<ObjectId>,
}

/// Where a landing was undone, and whether it still is at the base's tip.
pub(super) fn undone(scene: &mut Scene<'_, '_>, case: &Case, proof: &Proof) -> Result<Option<(Undone, bool)>> {
    let Some(&last) = proof.depths.last() else { return Ok(None) };
    let mut watched = watched(scene, case, proof)?;
    if watched.is_empty() {
        return Ok(None);
    }
    // Most files of a landing are never touched again: the rarest one ends the search.
    watched.sort_by_key(|w| newer(scene, w.path, last).len());
    for file in &watched {
        let back = |depth: &Depth| entry(scene, *depth, file.path).is_some_and(|e| file.before.contains(&e));
        if !newer(scene, file.path, last).iter().any(back) {
            return Ok(None);
        }
    }
    let mut depths: Vec<Depth> = watched.iter().flat_map(|w| newer(scene, w.path, last)).copied().collect();
    depths.sort_unstable_by(|a, b| b.cmp(a));
    depths.dedup();
    for depth in depths {
        if as_before(scene, &watched, depth)? {
            let landings: Vec<Node> = proof.depths.iter().map(|d| scene.at(*d)).collect::<Result<_>>()?;
            let ids: Vec<ObjectId> = landings.iter().map(|n| scene.world.history.id(*n)).collect();
            let (from, to) = (scene.at(last)?, scene.at(depth)?);
            let by = who_reverts(scene, from, to, &ids)?;
            if by.is_some() || went_back(scene, &watched, depth)? {
                let still = as_before(scene, &watched, 0)?;
                return Ok(Some((Undone { depth, by }, still)));
            }
            return Ok(None);
        }
    }
    Ok(None)
}

fn watched(scene: &mut Scene<'_, '_>, case: &Case, proof: &Proof) -> Result<Vec<Watched>> {
    let mut found = Vec::new();
    if proof.how == How::Contained {
        let Some(&depth) = proof.depths.first() else { return Ok(found) };
        for change in &case.delta.changes {
            let before = [scene.entry_at(change.path, depth + 1)?, change.old];
            found.push(Watched { path: change.path, before, after: scene.entry_at(change.path, depth)? });
        }
    } else {
        let steps: Vec<Delta> =
            proof.depths.iter().filter_map(|d| scene.index.step(*d)).map(|s| s.delta.clone()).collect();
        let all = Delta::compose(&steps);
        found.extend(all.changes.iter().map(|c| Watched { path: c.path, before: [c.old; 2], after: c.new }));
    }
    found.retain(|w| w.before != [w.after; 2]);
    Ok(found)
}

fn newer<'s>(scene: &'s Scene<'_, '_>, path: PathId, depth: Depth) -> &'s [Depth] {
    let all = scene.index.touchers(path);
    &all[all.partition_point(|d| *d >= depth)..]
}

fn entry(scene: &Scene<'_, '_>, depth: Depth, path: PathId) -> Option<EntryId> {
    scene.index.step(depth).and_then(|s| s.delta.get(path)).map(|c| c.new)
}

fn as_before(scene: &mut Scene<'_, '_>, watched: &[Watched], depth: Depth) -> Result<bool> {
    let mut differs = false;
    for file in watched {
        let now = scene.entry_at(file.path, depth)?;
        if !file.before.contains(&now) {
            return Ok(false);
        }
        differs |= now != file.after;
    }
    Ok(differs)
}

/// A file holds again what it held before.
fn went_back(scene: &mut Scene<'_, '_>, watched: &[Watched], depth: Depth) -> Result<bool> {
    for file in watched {
        let now = scene.entry_at(file.path, depth)?;
        if now != ABSENT && now != file.after {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether what a commit of the line brought is undone at the line's tip; inside: the commit that says so.
pub(super) fn merge_undone(scene: &mut Scene<'_, '_>, landing: Node, tip: Node) -> Result<Option<Option<ObjectId>>> {
    let top = scene.line.tip();
    let Some(parent) = scene.world.history.first_parent(landing)? else { return Ok(None) };
    if landing == top {
        return Ok(None);
    }
    let history = &mut scene.world.history;
    let (old, new, now) = (history.tree(parent)?, history.tree(landing)?, history.tree(top)?);
    let mut visit = AsBefore { repo: scene.world.repo, now, all: true, any: false, went_back: false, error: None };
    diff::walk(scene.world.repo, Some(old), Some(new), &mut visit)?;
    if let Some(error) = visit.error {
        return Err(error);
    }
    if !visit.all || !visit.any {
        return Ok(None);
    }
    let went_back = visit.went_back;
    let ids = [scene.world.history.id(landing), scene.world.history.id(tip)];
    let by = who_reverts(scene, landing, top, &ids)?;
    Ok((by.is_some() || went_back).then_some(by))
}

/// Whether all that differs is at a later tree as it was before; ends at the first path that is not.
struct AsBefore<'r> {
    repo: &'r gix::Repository,
    now: ObjectId,
    all: bool,
    any: bool,
    went_back: bool,
    error: Option<crate::error::Error>,
}

impl Visit for AsBefore<'_> {
    fn enter(&mut self, _dir: &BStr) -> bool {
        true
    }

    fn change(&mut self, path: &BStr, old: Option<diff::Entry>, _new: Option<diff::Entry>) -> ControlFlow<()> {
        match diff::lookup(self.repo, self.now, path) {
            Ok(now) if now == old => {
                self.any = true;
                self.went_back |= old.is_some();
                ControlFlow::Continue(())
            }
            Ok(_) => {
                self.all = false;
                ControlFlow::Break(())
            }
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// The newest commit after a landing, up to another one, that says that it reverts one of these.
fn who_reverts(scene: &mut Scene<'_, '_>, landing: Node, until: Node, ids: &[ObjectId]) -> Result<Option<ObjectId>> {
    let World { history, reverts, .. } = &mut *scene.world;
    let after = history.relate(landing, &[until]).pop().unwrap_or_else(|| Ok(Default::default()))?;
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    for &node in after.own.iter().rev() {
        let named = match reverts.entry(node) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(named_as_reverted(&history.message(node)?).into()),
        };
        if named.iter().any(|name| ids.iter().any(|id| id.as_bytes().starts_with(name))) {
            return Ok(Some(history.id(node)));
        }
    }
    Ok(None)
}

/// The commits of which a message says "This reverts commit …", as it names them: in full or abbreviated.
fn named_as_reverted(message: &[u8]) -> Vec<Vec<u8>> {
    const SAYS: &[u8] = b"This reverts commit ";
    let names = message.find_iter(SAYS).map(|at| {
        let rest = &message[at + SAYS.len()..];
        rest.iter().take_while(|b| b.is_ascii_hexdigit()).copied().collect()
    });
    names.filter(|name: &Vec<u8>| name.len() >= 7).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_message_names_what_it_reverts() {
        let id = ObjectId::from_hex(b"796b977745e4e587a8dfc27911fb16892c439a10").unwrap();
        let names = |text: &str| named_as_reverted(text.as_bytes());
        let says = |text: &str| names(text).iter().any(|name| id.to_string().as_bytes().starts_with(name));
        assert!(says("Revert \"x\"\n\nThis reverts commit 796b977745e4e587a8dfc27911fb16892c439a10.\n"));
        assert!(says("This reverts commit 796b977745e4e587a8dfc27911fb16892c439a10, reversing\nchanges made to"));
        assert!(says("This reverts commit 796b9777."));
        assert!(!says("This reverts commit 796."));
        assert!(!says("This reverts commit 896b977745e4e587a8dfc27911fb16892c439a10."));
        assert!(!says("Revert \"x\""));
    }
}
