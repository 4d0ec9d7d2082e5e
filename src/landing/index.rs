//! What each commit of a base's line changed, at the paths that some branch changed. Built once for all branches.

use std::collections::HashMap;
use std::ops::ControlFlow;

use gix::bstr::{BStr, BString, ByteSlice as _};

use super::diff::{self, ABSENT, Catalog, Change, Delta, Entry, EntryId, PathId, Visit};
use super::history::{History, Node};
use super::line::{Depth, Line};
use crate::error::{Error, Result};

/// Beyond so many new files in a commit, only those of the same name may be what a deleted one became.
const MANY: usize = 200;

/// A commit of the line beside its first parent.
pub(super) struct Step {
    /// What it changed at paths that some branch changed.
    pub delta: Delta,
    /// It changed other paths as well.
    pub others: bool,
}

/// A file of some branch that the base deleted, and what may have become of it.
struct Rename {
    depth: Depth,
    from: PathId,
    to: PathId,
}

pub(super) struct Index {
    pub steps: Vec<Step>,
    /// For each path the commits that changed it, oldest first.
    touchers: HashMap<PathId, Vec<Depth>>,
    renames: Vec<Rename>,
    /// Entries at paths that no step changed.
    constant: HashMap<PathId, EntryId>,
    tip: Node,
    paths: PathId,
}

impl Index {
    /// Of no commit.
    pub(super) fn empty(line: &Line) -> Self {
        Index {
            steps: Vec::new(),
            touchers: HashMap::new(),
            renames: Vec::new(),
            constant: HashMap::new(),
            tip: line.tip(),
            paths: 0,
        }
    }

    /// The index of the line down to a depth, for the paths that the catalog has.
    pub(super) fn build(
        repo: &gix::Repository,
        history: &mut History<'_>,
        catalog: &mut Catalog,
        line: &mut Line,
        limit: Depth,
    ) -> Result<Self> {
        let mut index = Index::empty(line);
        index.read(repo, history, catalog, line, limit)?;
        // What was deleted in one commit may have got its new name in another one.
        let gone: Vec<Change> =
            index.steps.iter().flat_map(|s| &s.delta.changes).filter(|c| c.new == ABSENT).copied().collect();
        let known = catalog.len();
        let all = index.steps.len() as Depth;
        if let (false, Some(oldest)) = (gone.is_empty(), line.at(history, all)?) {
            let trees = (history.tree(oldest)?, history.tree(line.tip())?);
            index.find_renames(repo, catalog, &gone, 0, trees)?;
        }
        if catalog.len() > known {
            (index.steps, index.touchers) = (Vec::new(), HashMap::new());
            index.read(repo, history, catalog, line, limit)?;
        }
        index.paths = catalog.len();
        Ok(index)
    }

    fn read(
        &mut self,
        repo: &gix::Repository,
        history: &mut History<'_>,
        catalog: &mut Catalog,
        line: &mut Line,
        limit: Depth,
    ) -> Result<()> {
        for depth in (0..limit).rev() {
            let (Some(node), Some(parent)) = (line.at(history, depth)?, line.at(history, depth + 1)?) else {
                continue;
            };
            let trees = (history.tree(parent)?, history.tree(node)?);
            let (mut delta, mut others) = diff::known(repo, catalog, trees.0, trees.1)?;
            let gone: Vec<Change> = delta.changes.iter().filter(|c| c.new == ABSENT).copied().collect();
            if !gone.is_empty() {
                let known = catalog.len();
                self.find_renames(repo, catalog, &gone, depth, trees)?;
                if catalog.len() > known {
                    (delta, others) = diff::known(repo, catalog, trees.0, trees.1)?;
                }
            }
            for change in &delta.changes {
                self.touchers.entry(change.path).or_default().push(depth);
            }
            self.steps.push(Step { delta, others });
        }
        self.steps.reverse();
        Ok(())
    }

    /// New files that a deleted one may have become: those with its content, else any.
    fn find_renames(
        &mut self,
        repo: &gix::Repository,
        catalog: &mut Catalog,
        gone: &[Change],
        depth: Depth,
        trees: (gix::ObjectId, gix::ObjectId),
    ) -> Result<()> {
        let mut added = Added(Vec::new());
        diff::walk(repo, Some(trees.0), Some(trees.1), &mut added)?;
        for change in gone {
            let old = catalog.get(change.old);
            let same = |(_, entry): &&(BString, Entry)| old.is_some_and(|o| o.1 == entry.1);
            let mut to: Vec<&BString> = added.0.iter().filter(same).map(|(path, _)| path).collect();
            if to.is_empty() {
                let name = file_name(catalog.name(change.path)).to_owned();
                let near = |path: &&BString| added.0.len() <= MANY || file_name(path.as_bstr()) == name.as_bstr();
                to = added.0.iter().map(|(path, _)| path).filter(near).collect();
            }
            for path in to {
                let to = catalog.path(path.as_bstr());
                self.renames.push(Rename { depth, from: change.path, to });
            }
        }
        Ok(())
    }

    /// The step of a commit at a depth of the line.
    pub(super) fn step(&self, depth: Depth) -> Option<&Step> {
        self.steps.get(depth as usize)
    }

    /// The commits that changed a path, oldest first.
    pub(super) fn touchers(&self, path: PathId) -> &[Depth] {
        self.touchers.get(&path).map_or(&[], Vec::as_slice)
    }

    /// The first commit newer than `depth` that changed a path.
    pub(super) fn next_toucher(&self, path: PathId, depth: Depth) -> Option<Depth> {
        let all = self.touchers(path);
        all.get(all.partition_point(|d| *d >= depth)).copied()
    }

    /// The entry at a path in the tree of the commit at a depth.
    pub(super) fn entry_at(
        &mut self,
        repo: &gix::Repository,
        history: &mut History<'_>,
        catalog: &mut Catalog,
        path: PathId,
        depth: Depth,
    ) -> Result<EntryId> {
        let all = self.touchers(path);
        let older = all.partition_point(|d| *d >= depth);
        let at = |d: Depth| self.step(d).and_then(|s| s.delta.get(path)).ok_or_else(lost);
        if let Some(last) = older.checked_sub(1) {
            return Ok(at(all[last])?.new);
        }
        if let Some(first) = all.first() {
            return Ok(at(*first)?.old);
        }
        if path >= self.paths {
            return Err(lost());
        }
        if let Some(entry) = self.constant.get(&path) {
            return Ok(*entry);
        }
        let found = diff::lookup(repo, history.tree(self.tip)?, catalog.name(path))?;
        let entry = catalog.entry(found);
        self.constant.insert(path, entry);
        Ok(entry)
    }

    /// What the files of a change may be called on the base, where it gave them other names after `from`.
    pub(super) fn renamed(&self, delta: &Delta, from: Depth) -> Vec<PathId> {
        let mut found: Vec<PathId> = Vec::new();
        for rename in self.renames.iter().filter(|r| r.depth < from) {
            if (delta.get(rename.from).is_some() || found.contains(&rename.from)) && !found.contains(&rename.to) {
                found.push(rename.to);
            }
        }
        found
    }

    /// Whether all paths of a change were followed.
    pub(super) fn follows(&self, delta: &Delta) -> bool {
        delta.changes.iter().all(|c| c.path < self.paths)
    }
}

fn lost() -> Error {
    Error::failed("history", "a path was not followed")
}

fn file_name(path: &BStr) -> &BStr {
    path.rfind_byte(b'/').map_or(path, |at| path[at + 1..].as_bstr())
}

struct Added(Vec<(BString, Entry)>);

impl Visit for Added {
    fn enter(&mut self, _dir: &BStr) -> bool {
        true
    }

    fn change(&mut self, path: &BStr, old: Option<Entry>, new: Option<Entry>) -> ControlFlow<()> {
        if let (None, Some(new)) = (old, new) {
            self.0.push((path.to_owned(), new));
        }
        ControlFlow::Continue(())
    }
}
