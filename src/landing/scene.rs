//! A base's line with all that is known about it: what the proofs look at.

use std::collections::HashMap;
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::BString;

use super::diff::{self, Catalog, Delta, EntryId, PathId};
use super::history::{History, Node};
use super::index::Index;
use super::line::{Depth, Line};
use super::lines::Lines;
use crate::error::{Error, Result};
use crate::git::{Merge, Merged, Merger};

/// What is read and asked once for all bases.
pub(super) struct World<'r> {
    pub repo: &'r gix::Repository,
    pub history: History<'r>,
    pub catalog: Catalog,
    pub lines: Lines,
    /// What each commit that was asked says that it reverts.
    pub reverts: HashMap<Node, Rc<[Vec<u8>]>>,
    merger: Merger<'r>,
    merged: HashMap<Merge, Merged>,
    deltas: HashMap<(Node, Node), Rc<Delta>>,
}

impl<'r> World<'r> {
    pub(super) fn new(repo: &'r gix::Repository, merger: Merger<'r>) -> Result<Self> {
        Ok(World {
            repo,
            history: History::new(repo)?,
            catalog: Catalog::default(),
            lines: Lines::default(),
            reverts: HashMap::new(),
            merger,
            merged: HashMap::new(),
            deltas: HashMap::new(),
        })
    }

    /// What differs between the trees of two commits.
    pub(super) fn delta(&mut self, old: Node, new: Node) -> Result<Rc<Delta>> {
        if let Some(delta) = self.deltas.get(&(old, new)) {
            return Ok(Rc::clone(delta));
        }
        let (before, after) = (self.history.tree(old)?, self.history.tree(new)?);
        let delta = Rc::new(diff::whole(self.repo, &mut self.catalog, before, after)?);
        self.deltas.insert((old, new), Rc::clone(&delta));
        Ok(delta)
    }

    /// Have git merge all of these at once; [`Self::merged`] has the answers.
    pub(super) fn merge(&mut self, merges: impl IntoIterator<Item = Merge>) {
        let mut new: Vec<Merge> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for merge in merges {
            if !self.merged.contains_key(&merge) && seen.insert(merge.clone()) {
                new.push(merge);
            }
        }
        let answers = self.merger.run(&new);
        self.merged.extend(new.into_iter().zip(answers));
    }

    /// Whether a merge that was asked for was clean and gave this tree.
    pub(super) fn merged(&self, merge: &Merge, tree: ObjectId) -> Result<bool> {
        match self.merged.get(merge) {
            Some(Merged::Tree(found)) => Ok(*found == tree),
            Some(Merged::Conflict | Merged::Unsupported) => Ok(false),
            Some(Merged::Failed(error)) => Err(Error::failed("git", error.clone())),
            None => Err(Error::failed("git", "a merge was not asked for")),
        }
    }
}

/// A base whose tip is on the line.
pub(super) struct Member {
    pub name: BString,
    /// Where its tip is.
    pub top: Depth,
    /// Only newer commits than the one at this depth can prove.
    pub since: Option<Depth>,
    /// Where that commit itself is not on the line.
    pub beside: Option<Node>,
}

/// A line with its index and the bases on it.
pub(super) struct Scene<'w, 'r> {
    pub world: &'w mut World<'r>,
    pub line: Line,
    pub index: Index,
    pub members: Vec<Member>,
}

impl Scene<'_, '_> {
    /// The first base for which the commit at a depth can be a proof.
    pub(super) fn base_of(&self, depth: Depth) -> Option<&Member> {
        self.members.iter().find(|m| m.top <= depth && m.since.is_none_or(|since| depth < since))
    }

    /// No commit at this depth or older can prove for any base.
    pub(super) fn oldest(&self) -> Depth {
        self.members.iter().map(|m| m.since.unwrap_or(Depth::MAX)).max().unwrap_or(0)
    }

    /// The entry at a path in the tree of the commit at a depth.
    pub(super) fn entry_at(&mut self, path: PathId, depth: Depth) -> Result<EntryId> {
        let World { repo, history, catalog, .. } = &mut *self.world;
        self.index.entry_at(repo, history, catalog, path, depth)
    }

    /// The commit at a depth.
    pub(super) fn at(&mut self, depth: Depth) -> Result<Node> {
        let found = self.line.at(&mut self.world.history, depth)?;
        found.ok_or_else(|| Error::failed("history", "the base's line is too short"))
    }
}
