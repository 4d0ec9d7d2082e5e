//! The first-parent line of a base, read as far back as it is needed. Depth 0 is its tip.

use std::collections::HashMap;

use super::history::{History, Node};
use crate::error::{Error, Result};

/// How far a commit is from the tip of the base, along first parents.
pub(super) type Depth = u32;

pub(super) struct Line {
    nodes: Vec<Node>,
    depths: HashMap<Node, Depth>,
    complete: bool,
    /// Commits off the line, with the oldest commit of the line that was seen to reach them.
    brought: Option<HashMap<Node, Depth>>,
}

impl Line {
    pub(super) fn new(tip: Node) -> Self {
        Line { nodes: vec![tip], depths: HashMap::from([(tip, 0)]), complete: false, brought: None }
    }

    pub(super) fn tip(&self) -> Node {
        self.nodes[0]
    }

    /// The commit at a depth, if the line is that long.
    pub(super) fn at(&mut self, history: &mut History<'_>, depth: Depth) -> Result<Option<Node>> {
        while self.nodes.len() <= depth as usize && !self.complete {
            self.extend(history)?;
        }
        Ok(self.nodes.get(depth as usize).copied())
    }

    /// The depth of a commit that the line is known to have seen.
    pub(super) fn depth(&self, node: Node) -> Option<Depth> {
        self.depths.get(&node).copied()
    }

    /// Read on until commits are older than `time`. Dates may lie: who must know asks [`Self::place`].
    pub(super) fn extend_to(&mut self, history: &mut History<'_>, time: i64) -> Result<()> {
        while !self.complete && history.time(self.nodes[self.nodes.len() - 1])? >= time {
            self.extend(history)?;
        }
        Ok(())
    }

    fn extend(&mut self, history: &mut History<'_>) -> Result<()> {
        match history.first_parent(self.nodes[self.nodes.len() - 1])? {
            Some(parent) => {
                self.depths.insert(parent, self.nodes.len() as Depth);
                self.nodes.push(parent);
            }
            None => self.complete = true,
        }
        Ok(())
    }

    /// The oldest commit of the line that reaches `node`, which must be reachable from the tip.
    pub(super) fn place(&mut self, history: &mut History<'_>, node: Node) -> Result<Depth> {
        if let Some(depth) = self.depth(node) {
            return Ok(depth);
        }
        // A guess from the merges that were seen, and a proof that the commit before did not have it.
        if self.brought.is_none() {
            self.brought = Some(self.bring(history)?);
        }
        if let Some(guess) = self.brought.as_ref().and_then(|b| b.get(&node).copied()) {
            let before = self.at(history, guess + 1)?;
            if match before {
                Some(before) => !history.reaches(before, node)?,
                None => true,
            } {
                return Ok(guess);
            }
        }
        while !self.complete {
            self.extend(history)?;
        }
        match self.depth(node) {
            Some(depth) => Ok(depth),
            None => self.oldest(history, |history, line| history.reaches(line, node))?.ok_or_else(|| {
                Error::failed("history", "a commit is reachable from the base, but from no commit of its line")
            }),
        }
    }

    /// The newest commit of the line that `node` reaches, or none.
    pub(super) fn newest_below(&mut self, history: &mut History<'_>, node: Node) -> Result<Option<Depth>> {
        if let Some(depth) = self.depth(node) {
            return Ok(Some(depth));
        }
        let mut high = 0;
        loop {
            let Some(line) = self.at(history, high)? else {
                high = self.nodes.len() as Depth - 1;
                if !history.reaches(node, self.nodes[high as usize])? {
                    return Ok(None);
                }
                break;
            };
            if history.reaches(node, line)? {
                break;
            }
            high = high * 2 + 1;
        }
        let mut least = 0;
        while least < high {
            let middle = least + (high - least) / 2;
            if history.reaches(node, self.nodes[middle as usize])? {
                high = middle;
            } else {
                least = middle + 1;
            }
        }
        Ok(Some(high))
    }

    /// The greatest depth for which `holds`, where it holds for all smaller ones.
    fn oldest(
        &self,
        history: &mut History<'_>,
        mut holds: impl FnMut(&mut History<'_>, Node) -> Result<bool>,
    ) -> Result<Option<Depth>> {
        let (mut least, mut most) = (0, self.nodes.len());
        while least < most {
            let middle = least + (most - least) / 2;
            if holds(history, self.nodes[middle])? {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        Ok(least.checked_sub(1).map(|d| d as Depth))
    }

    /// From the oldest merge to the newest, what each brought that none before had.
    fn bring(&self, history: &mut History<'_>) -> Result<HashMap<Node, Depth>> {
        let oldest = history.time(self.nodes[self.nodes.len() - 1])?;
        let mut brought = HashMap::new();
        let mut stack = Vec::new();
        for (depth, &node) in self.nodes.iter().enumerate().rev() {
            stack.extend(history.parents(node)?.iter().skip(1).copied());
            while let Some(side) = stack.pop() {
                if self.depths.contains_key(&side) || brought.contains_key(&side) || history.time(side)? < oldest {
                    continue;
                }
                brought.insert(side, depth as Depth);
                stack.extend(history.parents(side)?.iter().copied());
            }
        }
        Ok(brought)
    }
}
