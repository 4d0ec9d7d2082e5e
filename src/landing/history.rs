//! The part of the commit graph that was looked at: who is reachable from whom, exactly.
//!
//! Commit dates only decide what is looked at first, never what is true: histories with equal or wrong dates give the
//! same answers.

use std::collections::{BinaryHeap, HashSet};
use std::rc::Rc;

use gix::ObjectId;

use super::read;
use crate::error::Result;

/// A commit of [`History`].
pub(super) type Node = u32;

/// How many tips one walk can tell apart; the last bit says *in the base*.
const CHUNK: usize = 63;
const BASE: u64 = 1 << CHUNK;

struct Body {
    tree: ObjectId,
    parents: Rc<[Node]>,
    time: i64,
    cut: bool,
}

/// How a tip relates to a base.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    /// The tip is reachable from the base.
    pub in_base: bool,
    /// Commits of the tip that the base does not reach, parents first.
    pub own: Vec<Node>,
    /// Commits of the base that own commits have as parents.
    pub boundary: Vec<Node>,
    /// The merge bases: those of the boundary that no other one reaches.
    pub bases: Vec<Node>,
    /// History of the tip or the base is cut off where the other one does not go on.
    pub cut: bool,
}

impl Relation {
    /// No own commit is a merge.
    pub(super) fn linear(&self, history: &mut History<'_>) -> Result<bool> {
        for &node in &self.own {
            if history.parents(node)?.len() != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Commits by number, read when they are needed.
pub(super) struct History<'r> {
    repo: &'r gix::Repository,
    graph: Option<gix::commitgraph::Graph>,
    shallow: HashSet<ObjectId>,
    nodes: gix::hashtable::HashMap<ObjectId, Node>,
    ids: Vec<ObjectId>,
    bodies: Vec<Option<Body>>,
    cuts: Vec<Node>,
    walk: Walk,
}

impl<'r> History<'r> {
    pub(super) fn new(repo: &'r gix::Repository) -> Result<Self> {
        let shallow: HashSet<ObjectId> =
            repo.shallow_commits().map_err(read)?.map(|ids| ids.iter().copied().collect()).unwrap_or_default();
        // A commit graph that cannot be read costs time only.
        let graph = repo.commit_graph_if_enabled().ok().flatten().filter(|_| shallow.is_empty());
        Ok(History {
            repo,
            graph,
            shallow,
            nodes: Default::default(),
            ids: Vec::new(),
            bodies: Vec::new(),
            cuts: Vec::new(),
            walk: Walk::default(),
        })
    }

    pub(super) fn node(&mut self, id: ObjectId) -> Node {
        let next = self.ids.len() as Node;
        let node = *self.nodes.entry(id).or_insert(next);
        if node == next {
            self.ids.push(id);
            self.bodies.push(None);
        }
        node
    }

    pub(super) fn id(&self, node: Node) -> ObjectId {
        self.ids[node as usize]
    }

    pub(super) fn parents(&mut self, node: Node) -> Result<Rc<[Node]>> {
        self.body(node).map(|b| Rc::clone(&b.parents))
    }

    pub(super) fn tree(&mut self, node: Node) -> Result<ObjectId> {
        self.body(node).map(|b| b.tree)
    }

    pub(super) fn time(&mut self, node: Node) -> Result<i64> {
        self.body(node).map(|b| b.time)
    }

    /// The first parent.
    pub(super) fn first_parent(&mut self, node: Node) -> Result<Option<Node>> {
        self.body(node).map(|b| b.parents.first().copied())
    }

    /// The message, read anew each time.
    pub(super) fn message(&self, node: Node) -> Result<Vec<u8>> {
        let commit = self.repo.find_commit(self.id(node)).map_err(read)?;
        Ok(commit.message_raw().map_err(read)?.to_vec())
    }

    fn body(&mut self, node: Node) -> Result<&Body> {
        if self.bodies[node as usize].is_none() {
            let body = self.load(node)?;
            if body.cut {
                self.cuts.push(node);
            }
            self.bodies[node as usize] = Some(body);
        }
        self.bodies[node as usize].as_ref().ok_or_else(|| crate::error::Error::failed("history", "a commit got lost"))
    }

    fn load(&mut self, node: Node) -> Result<Body> {
        let id = self.id(node);
        let (tree, mut parents, time) = match self.graphed(id)? {
            Some(found) => found,
            None => {
                let commit = self.repo.find_commit(id).map_err(read)?;
                let commit = commit.decode().map_err(read)?;
                // A date that cannot be read is the oldest: dates only give the order of the walk.
                let time = commit.time().map_or(i64::MIN, |t| t.seconds);
                (commit.tree(), commit.parents().collect(), time)
            }
        };
        let cut = self.shallow.contains(&id);
        if cut {
            parents.clear();
        }
        let parents = parents.into_iter().map(|id| self.node(id)).collect();
        Ok(Body { tree, parents, time, cut })
    }

    fn graphed(&self, id: ObjectId) -> Result<Option<(ObjectId, Vec<ObjectId>, i64)>> {
        let Some(graph) = &self.graph else { return Ok(None) };
        let Some(commit) = graph.commit_by_id(id) else { return Ok(None) };
        let mut parents = Vec::new();
        for parent in commit.iter_parents() {
            parents.push(graph.id_at(parent.map_err(read)?).to_owned());
        }
        Ok(Some((commit.root_tree_id().to_owned(), parents, commit.committer_timestamp() as i64)))
    }

    /// Paint by walking from `base` and `tips` until everything still to be looked at is reachable from the base and
    /// from every tip. Then each tip that the base reaches carries its mark: a commit between them that was not passed
    /// on would be above and below the tip at once.
    fn paint(&mut self, base: &[Node], tips: &[Node]) -> Result<()> {
        let mut walk = std::mem::take(&mut self.walk);
        let painted = walk.paint(self, base, tips);
        self.walk = walk;
        painted
    }

    /// Whether any of `from` reaches each of `nodes`.
    pub(super) fn reached(&mut self, from: &[Node], nodes: &[Node]) -> Result<Vec<bool>> {
        let mut answer = Vec::with_capacity(nodes.len());
        for chunk in nodes.chunks(CHUNK) {
            self.paint(from, chunk)?;
            answer.extend(chunk.iter().map(|&n| self.walk.get(n) & BASE != 0));
        }
        Ok(answer)
    }

    /// Whether `from` reaches `node`.
    pub(super) fn reaches(&mut self, from: Node, node: Node) -> Result<bool> {
        self.paint(&[from], &[node])?;
        Ok(self.walk.get(node) & BASE != 0)
    }

    /// How each tip relates to the base. What cannot be read concerns only the tip whose history it is in.
    pub(super) fn relate(&mut self, base: Node, tips: &[Node]) -> Vec<Result<Relation>> {
        let mut order: Vec<usize> = (0..tips.len()).collect();
        // Tips of the same age go down to the same depth.
        order.sort_by_key(|&i| self.time(tips[i]).unwrap_or(i64::MIN));
        let mut answers: Vec<(usize, Result<Relation>)> = Vec::with_capacity(tips.len());
        for chunk in order.chunks(CHUNK) {
            let nodes: Vec<Node> = chunk.iter().map(|&i| tips[i]).collect();
            let first: Vec<Result<Relation>> = match self.paint(&[base], &nodes) {
                Ok(()) => nodes.iter().enumerate().map(|(bit, tip)| self.sketch(*tip, 1 << bit)).collect(),
                Err(_) => {
                    nodes.iter().map(|tip| self.paint(&[base], &[*tip]).and_then(|()| self.sketch(*tip, 1))).collect()
                }
            };
            for (&i, sketch) in chunk.iter().zip(first) {
                answers.push((i, sketch.and_then(|sketch| self.refine(base, tips[i], sketch))));
            }
        }
        answers.sort_by_key(|(i, _)| *i);
        answers.into_iter().map(|(_, relation)| relation).collect()
    }

    /// What the paint says of the tip with this mark.
    fn sketch(&mut self, tip: Node, bit: u64) -> Result<Relation> {
        if self.walk.get(tip) & BASE != 0 {
            return Ok(Relation { in_base: true, ..Relation::default() });
        }
        let mut cut = self.cuts.iter().any(|&c| self.walk.get(c) & (BASE | bit) == BASE);
        let (own, boundary) = self.above(tip, |history, node| history.walk.get(node) & BASE != 0)?;
        for &node in &own {
            cut |= self.body(node)?.cut;
        }
        Ok(Relation { own, boundary, cut, ..Relation::default() })
    }

    /// Below a merge the walk may have passed a commit before it knew it to be in the base: ask for each.
    fn refine(&mut self, base: Node, tip: Node, mut relation: Relation) -> Result<Relation> {
        let mut merges = false;
        for &node in &relation.own {
            merges |= self.parents(node)?.len() > 1;
        }
        if merges {
            let known = self.reached(&[base], &relation.own)?;
            if known.contains(&true) {
                let own: HashSet<Node> =
                    relation.own.iter().zip(known).filter(|(_, in_base)| !in_base).map(|(node, _)| *node).collect();
                (relation.own, relation.boundary) = self.above(tip, |_, node| !own.contains(&node))?;
            }
        }
        relation.bases = self.independent(&relation.boundary)?;
        Ok(relation)
    }

    /// What `tip` reaches before a commit that is `in_base`, parents first, and those commits.
    fn above(&mut self, tip: Node, in_base: impl Fn(&Self, Node) -> bool) -> Result<(Vec<Node>, Vec<Node>)> {
        let (mut own, mut boundary, mut seen) = (Vec::new(), Vec::new(), HashSet::from([tip]));
        let mut stack = vec![(tip, self.parents(tip)?, 0)];
        while let Some((node, parents, next)) = stack.last_mut() {
            let Some(&parent) = parents.get(*next) else {
                own.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            if seen.insert(parent) {
                if in_base(self, parent) {
                    boundary.push(parent);
                } else {
                    let more = self.parents(parent)?;
                    stack.push((parent, more, 0));
                }
            }
        }
        Ok((own, boundary))
    }

    /// Those of `nodes` that no other one reaches.
    pub(super) fn independent(&mut self, nodes: &[Node]) -> Result<Vec<Node>> {
        let mut kept = nodes.to_vec();
        for &node in nodes {
            let others: Vec<Node> = kept.iter().copied().filter(|n| *n != node).collect();
            if !others.is_empty() && self.reached(&others, &[node])?[0] {
                kept = others;
            }
        }
        Ok(kept)
    }
}

/// A walk that paints commits; the marks of the last one stay until the next.
#[derive(Default)]
struct Walk {
    /// Marks with the number of the walk that made them.
    marks: Vec<(u32, u64)>,
    number: u32,
    queued: Vec<bool>,
    queue: BinaryHeap<(i64, std::cmp::Reverse<u64>, Node)>,
    pushed: u64,
    full: u64,
    /// How many in the queue are not reached by all.
    live: usize,
}

impl Walk {
    fn get(&self, node: Node) -> u64 {
        self.marks.get(node as usize).filter(|(number, _)| *number == self.number).map_or(0, |(_, mark)| *mark)
    }

    fn paint(&mut self, history: &mut History<'_>, base: &[Node], tips: &[Node]) -> Result<()> {
        self.number += 1;
        self.full = BASE | ((1 << tips.len()) - 1);
        self.live = 0;
        for (_, _, node) in self.queue.drain() {
            self.queued[node as usize] = false;
        }
        for &node in base {
            self.mark(history, node, BASE)?;
        }
        for (bit, &node) in tips.iter().enumerate() {
            self.mark(history, node, 1 << bit)?;
        }
        while self.live > 0
            && let Some((_, _, node)) = self.queue.pop()
        {
            self.queued[node as usize] = false;
            let mark = self.get(node);
            self.live -= usize::from(mark != self.full);
            for &parent in history.parents(node)?.iter() {
                self.mark(history, parent, mark)?;
            }
        }
        Ok(())
    }

    fn mark(&mut self, history: &mut History<'_>, node: Node, add: u64) -> Result<()> {
        let at = node as usize;
        if self.marks.len() <= at {
            self.marks.resize(history.ids.len(), (0, 0));
            self.queued.resize(history.ids.len(), false);
        }
        let old = self.get(node);
        let new = old | add;
        if old == new {
            return Ok(());
        }
        self.marks[at] = (self.number, new);
        if !self.queued[at] {
            let time = history.time(node)?;
            self.queued[at] = true;
            self.pushed += 1;
            self.queue.push((time, std::cmp::Reverse(self.pushed), node));
            self.live += usize::from(new != self.full);
        } else if new == self.full {
            self.live -= 1;
        }
        Ok(())
    }
}
