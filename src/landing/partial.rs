//! Partial: some own commits landed and some did not. Either single ones were replayed, or an earlier tip of the
//! branch was squashed.

use std::collections::HashSet;
use std::rc::Rc;

use super::case::Case;
use super::diff::Delta;
use super::history::Node;
use super::line::Depth;
use super::scene::Scene;
use super::search::{Proof, Search, solve};
use crate::error::Result;
use crate::model::Landing;

/// Of branches with more commits no earlier tips are tried.
const MANY: usize = 200;

/// What is known of a case without a proof, when its replayed commits are known.
pub(super) fn judge(scene: &mut Scene<'_, '_>, case: &Case, replays: &[Option<Depth>]) -> Result<Landing> {
    let single = case.own.iter().zip(replays).filter(|(_, found)| found.is_some()).map(|(own, _)| own.node);
    let mut landed: HashSet<Node> = single.collect();
    if let Some(tip) = earlier_tip(scene, case)? {
        landed.extend(below(scene, case, tip)?.0);
    }
    let id = |node: &Node| scene.world.history.id(*node);
    let all = || case.relation.own.iter().filter(|n| case.roots.contains(n) || case.own.iter().any(|o| o.node == **n));
    let (there, missing): (Vec<_>, Vec<_>) = all().partition(|node| landed.contains(node));
    if there.is_empty() || missing.is_empty() {
        return Ok(if case.relation.cut { Landing::CutOff } else { Landing::Unproven });
    }
    Ok(Landing::Partial { landed: there.into_iter().map(id).collect(), missing: missing.into_iter().map(id).collect() })
}

/// The newest commit on the branch's own line, before its tip, that was squashed.
fn earlier_tip(scene: &mut Scene<'_, '_>, case: &Case) -> Result<Option<Node>> {
    if case.relation.own.len() > MANY {
        return Ok(None);
    }
    let own: HashSet<Node> = case.relation.own.iter().copied().collect();
    let mut line = Vec::new();
    let mut next = scene.world.history.first_parent(case.tip)?;
    while let Some(node) = next.filter(|n| own.contains(n)) {
        line.push(node);
        next = scene.world.history.first_parent(node)?;
    }
    let (mut tips, mut searches) = (Vec::new(), Vec::new());
    for node in line {
        let (reached, bases) = below(scene, case, node)?;
        let &[base] = scene.world.history.independent(&bases)?.as_slice() else { continue };
        let delta = if case.linear {
            Rc::new(Delta::compose(case.own.iter().filter(|o| reached.contains(&o.node)).map(|o| &*o.delta)))
        } else {
            scene.world.delta(base, node)?
        };
        if delta.is_empty() || !scene.index.follows(&delta) {
            continue;
        }
        let from = scene.line.place(&mut scene.world.history, base)?.min(scene.oldest());
        let merge = (Some(scene.world.history.id(base)), scene.world.history.id(node));
        tips.push(node);
        searches.push(Search::new(scene, Proof::Replay, delta, merge, (from, case.reach)));
    }
    for (tip, found) in tips.into_iter().zip(solve(scene, searches)) {
        if found?.is_some() {
            return Ok(Some(tip));
        }
    }
    Ok(None)
}

/// The own commits that one of them reaches, itself included, and what they leave to the base.
fn below(scene: &mut Scene<'_, '_>, case: &Case, tip: Node) -> Result<(HashSet<Node>, Vec<Node>)> {
    let own: HashSet<Node> = case.relation.own.iter().copied().collect();
    let (mut reached, mut left, mut stack) = (HashSet::from([tip]), HashSet::new(), vec![tip]);
    while let Some(node) = stack.pop() {
        for &parent in scene.world.history.parents(node)?.iter() {
            if !own.contains(&parent) {
                left.insert(parent);
            } else if reached.insert(parent) {
                stack.push(parent);
            }
        }
    }
    let mut left: Vec<Node> = left.into_iter().collect();
    left.sort_unstable();
    Ok((reached, left))
}
