//! Looking for the first commit of a base's line that proves, for many branches at once: candidates that the index
//! cannot rule out go to git in batches.

use std::collections::BinaryHeap;
use std::rc::Rc;

use gix::ObjectId;

use super::diff::{Delta, EntryId, PathId};
use super::line::Depth;
use super::scene::Scene;
use super::{contained, lines, squash};
use crate::error::Result;
use crate::git::Merge;

/// How many candidates of a search git is asked about, round by round. What is left then stays unproven.
const ROUNDS: [usize; 4] = [1, 4, 16, 64];

/// Which proof is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// Merged into the parent it gives exactly the commit.
    Replay,
    /// Merged into the commit it changes nothing.
    Contained,
}

/// What the index says of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Candidate {
    /// It is no proof.
    No,
    /// It is one, no merge is needed to know that.
    Yes,
    /// git must merge; these files hold changes of both sides.
    Ask(Vec<Content>),
}

/// A file that both sides changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content {
    pub base: Option<EntryId>,
    pub ours: EntryId,
    pub theirs: EntryId,
    pub result: EntryId,
}

/// A candidate, with the merge that decides about it and the tree it must give, where one is needed.
type Asked = (Depth, Option<(Merge, ObjectId)>);

/// A search for one change, from the oldest candidate to the newest.
pub(super) struct Search {
    proof: Proof,
    pub delta: Rc<Delta>,
    /// The one merge base; with several, git must make one and old entries say nothing.
    pub base: Option<ObjectId>,
    theirs: ObjectId,
    /// Names that the base may have given to changed files.
    pub renamed: Vec<PathId>,
    queue: BinaryHeap<(Depth, PathId)>,
    start: Option<Depth>,
    last: Option<Depth>,
    peeked: Option<(Depth, bool)>,
}

impl Search {
    /// A search for commits newer than `from`; the branch left the line at `left`.
    pub(super) fn new(
        scene: &mut Scene<'_, '_>,
        proof: Proof,
        delta: Rc<Delta>,
        (base, theirs): (Option<ObjectId>, ObjectId),
        (from, left): (Depth, Depth),
    ) -> Result<Self> {
        let renamed = scene.index.renamed(&delta, from.max(left));
        let mut search = Search {
            proof,
            delta,
            base,
            theirs,
            renamed,
            queue: BinaryHeap::new(),
            start: None,
            last: None,
            peeked: None,
        };
        search.start = search.start(scene, from)?;
        let Some(start) = search.start else { return Ok(search) };
        let paths = search.delta.changes.iter().map(|c| c.path).chain(search.renamed.iter().copied());
        for path in paths {
            // The first at `start` or newer.
            if let Some(depth) = scene.index.next_toucher(path, start + 1) {
                search.queue.push((depth, path));
            }
        }
        Ok(search)
    }

    /// Look at the commit of this depth, too, even if it touches nothing.
    pub(super) fn also(mut self, depth: Depth) -> Self {
        if self.start.is_some_and(|start| depth <= start) {
            self.queue.push((depth, PathId::MAX));
        }
        self
    }

    /// Where it starts: every changed path must have moved on the base by then, or nothing landed.
    fn start(&self, scene: &mut Scene<'_, '_>, from: Depth) -> Result<Option<Depth>> {
        let Some(mut start) = from.checked_sub(1) else { return Ok(None) };
        if self.base.is_none() {
            return Ok(Some(start));
        }
        for change in &self.delta.changes {
            let next = scene.index.next_toucher(change.path, from);
            if next.is_some_and(|next| next >= start) {
                continue;
            }
            if scene.entry_at(change.path, from)? == change.old {
                match next {
                    Some(next) => start = start.min(next),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(start))
    }

    /// The next commit that touches a path of the change.
    fn next_depth(&mut self, scene: &Scene<'_, '_>) -> Option<Depth> {
        while let Some((depth, path)) = self.queue.pop() {
            if let Some(next) = scene.index.next_toucher(path, depth) {
                self.queue.push((next, path));
            }
            if self.last != Some(depth) {
                self.last = Some(depth);
                return Some(depth);
            }
        }
        None
    }

    /// The first candidate that is not ruled out: its depth, and whether it needs no merge. It stays to be looked at.
    pub(super) fn first(&mut self, scene: &mut Scene<'_, '_>) -> Result<Option<(Depth, bool)>> {
        self.peeked = self.next(scene, false)?;
        Ok(self.peeked)
    }

    /// The next candidate that is not ruled out.
    fn next(&mut self, scene: &mut Scene<'_, '_>, sieve: bool) -> Result<Option<(Depth, bool)>> {
        if let Some(peeked) = self.peeked.take() {
            return Ok(Some(peeked));
        }
        while let Some(depth) = self.next_depth(scene) {
            if scene.base_of(depth).is_none() {
                continue;
            }
            let candidate = match self.proof {
                Proof::Replay => squash::candidate(scene, self, depth)?,
                Proof::Contained => contained::candidate(scene, self, depth)?,
            };
            match candidate {
                Candidate::No => {}
                Candidate::Yes => return Ok(Some((depth, true))),
                Candidate::Ask(contents) => {
                    if !sieve || contents.iter().all(|c| plausible(scene, c)) {
                        return Ok(Some((depth, false)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The merge that decides about a candidate, and the tree it must give.
    fn question(&self, scene: &mut Scene<'_, '_>, depth: Depth) -> Result<(Merge, ObjectId)> {
        let node = scene.at(depth)?;
        let ours = match self.proof {
            Proof::Replay => scene.at(depth + 1)?,
            Proof::Contained => node,
        };
        let tree = scene.world.history.tree(node)?;
        Ok((Merge { base: self.base, ours: scene.world.history.id(ours), theirs: self.theirs }, tree))
    }
}

/// Whether a merge can have given this file: what either side added must be in the other.
fn plausible(scene: &mut Scene<'_, '_>, content: &Content) -> bool {
    let world = &mut *scene.world;
    let mut bag = |entry: EntryId| world.catalog.file(entry).and_then(|id| world.lines.of(world.repo, id));
    let (Some(ours), Some(theirs), Some(result)) = (bag(content.ours), bag(content.theirs), bag(content.result)) else {
        return true;
    };
    let base = content.base.and_then(bag);
    base.is_none_or(|base| lines::added_lines_are_in(&base, &theirs, &result))
        && lines::added_lines_are_in(&ours, &result, &theirs)
}

/// The first commit that proves, for each search. A merge that failed is an error unless another one proves.
pub(super) fn solve(scene: &mut Scene<'_, '_>, mut searches: Vec<Result<Search>>) -> Vec<Result<Option<Depth>>> {
    let mut answers: Vec<Option<Result<Option<Depth>>>> = searches.iter().map(|_| None).collect();
    for (round, budget) in ROUNDS.into_iter().enumerate() {
        let mut batches: Vec<Vec<Asked>> = Vec::with_capacity(searches.len());
        for (search, answer) in searches.iter_mut().zip(&mut answers) {
            let batch = match (search, &answer) {
                (_, Some(_)) => Ok(Vec::new()),
                (Err(error), None) => Err(error.clone()),
                (Ok(search), None) => batch(scene, search, budget, round > 0),
            };
            batches.push(batch.unwrap_or_else(|error| {
                *answer = Some(Err(error));
                Vec::new()
            }));
        }
        let merges = batches.iter().flatten().filter_map(|(_, question)| question.as_ref().map(|(m, _)| m.clone()));
        scene.world.merge(merges.collect::<Vec<_>>());
        for (batch, answer) in batches.iter().zip(&mut answers) {
            if matches!(answer, None | Some(Err(_))) {
                settle(scene, batch, answer);
            }
        }
    }
    answers.into_iter().map(|answer| answer.unwrap_or(Ok(None))).collect()
}

fn batch(scene: &mut Scene<'_, '_>, search: &mut Search, budget: usize, sieve: bool) -> Result<Vec<Asked>> {
    let mut found = Vec::new();
    while found.len() < budget
        && let Some((depth, sure)) = search.next(scene, sieve)?
    {
        let question = if sure { None } else { Some(search.question(scene, depth)?) };
        found.push((depth, question));
        if sure {
            break;
        }
    }
    Ok(found)
}

fn settle(scene: &Scene<'_, '_>, batch: &[Asked], answer: &mut Option<Result<Option<Depth>>>) {
    for (depth, question) in batch {
        let proves = question.as_ref().map_or(Ok(true), |(merge, tree)| scene.world.merged(merge, *tree));
        match proves {
            Ok(true) => {
                *answer = Some(Ok(Some(*depth)));
                return;
            }
            Ok(false) => {}
            Err(error) => *answer = Some(Err(error)),
        }
    }
}
