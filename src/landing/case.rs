//! A tip that a base does not reach, prepared for the proofs.

use std::rc::Rc;

use gix::ObjectId;

use super::diff::Delta;
use super::history::{Node, Relation};
use super::line::{Depth, Line};
use super::scene::World;
use crate::error::Result;
use crate::model::How;

/// A commit of the tip's own.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub node: Node,
    pub parent: Node,
    pub delta: Rc<Delta>,
}

/// A tip beside a base's line.
pub(super) struct Case {
    /// Which of the tips that were asked for.
    pub asked: usize,
    pub tip: Node,
    pub relation: Relation,
    /// No own commit is a merge.
    pub linear: bool,
    /// Commits of the line that are newer than this one have all merge bases below them.
    pub from: Depth,
    /// The merge base is this commit of the line, not one that a later merge brought.
    pub on_line: bool,
    /// Where the branch left the line first.
    pub reach: Depth,
    /// What it changed since the merge base.
    pub delta: Rc<Delta>,
    /// Own commits that are no merges and change something, parents first.
    pub own: Vec<Own>,
    /// Own commits without a parent, which nothing replays.
    pub roots: Vec<Node>,
}

/// A proof: the commits of the line that it rests on, oldest first.
#[derive(Debug, Clone)]
pub(super) struct Proof {
    pub how: How,
    pub depths: Vec<Depth>,
}

impl Case {
    /// Read what the proofs need. `None`: nothing can be proved, because there is no merge base or no change.
    pub(super) fn prepare(
        world: &mut World<'_>,
        line: &mut Line,
        asked: usize,
        tip: Node,
        relation: Relation,
    ) -> Result<Option<Case>> {
        if relation.bases.is_empty() {
            return Ok(None);
        }
        let tree = world.history.tree(tip)?;
        let mut places = Vec::new();
        for &base in &relation.bases {
            if world.history.tree(base)? == tree {
                return Ok(None);
            }
            places.push(line.place(&mut world.history, base)?);
        }
        let mut reach = places.iter().copied().max().unwrap_or(0);
        for &node in &relation.boundary {
            reach = reach.max(line.place(&mut world.history, node)?);
        }
        let linear = relation.linear(&mut world.history)?;
        let (mut own, mut roots) = (Vec::new(), Vec::new());
        for &node in &relation.own {
            match *world.history.parents(node)? {
                [parent] => {
                    let delta = world.delta(parent, node)?;
                    if !delta.is_empty() {
                        own.push(Own { node, parent, delta });
                    }
                }
                [] => roots.push(node),
                _ => {}
            }
        }
        let delta = if linear {
            Rc::new(Delta::compose(own.iter().map(|o| &*o.delta)))
        } else {
            let mut changes = Vec::new();
            for &base in &relation.bases {
                changes.extend_from_slice(&world.delta(base, tip)?.changes);
            }
            changes.sort_by_key(|c| c.path);
            changes.dedup_by_key(|c| c.path);
            Rc::new(Delta::of(changes))
        };
        // All merge bases are below a commit from where the newest of them is on the line.
        let from = places.iter().copied().min().unwrap_or(0);
        let on_line = relation.bases.iter().all(|b| line.depth(*b).is_some());
        Ok(Some(Case { asked, tip, relation, linear, from, on_line, reach, delta, own, roots }))
    }

    /// The one merge base to name to git; with several it makes its own.
    pub(super) fn base(&self, world: &World<'_>) -> Option<ObjectId> {
        match self.relation.bases[..] {
            [base] => Some(world.history.id(base)),
            _ => None,
        }
    }
}
