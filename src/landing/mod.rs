//! Proofs that work has landed: exact, byte for byte. One file a proof, cheapest first.
//!
//! | how | proof | names |
//! |---|---|---|
//! | `ancestor` | the tip is reachable from a base | the merge that brought it, or the tip |
//! | `squash` | merging the tip into the parent of a commit gives exactly its tree, not its parent's | that commit |
//! | `rebase` | each own commit, replayed on the parent of a commit, gives exactly that commit's tree | the last one |
//! | `contained` | merging the tip into a commit of the base changes nothing | the first such commit |
//!
//! Merges are git's own, with no setting, driver or attribute of anyone (`git::merge`). The index of a base rules
//! candidates out; git is spared only where no merge can give another tree: the very same change of the very same
//! entries, or besides that changes inside files that are plainly apart (`edits`). Conflicts prove nothing, nor do branches whose tree is that
//! of their merge base. Because the proofs look at the history of the base, a branch stays landed when the base edits
//! or deletes the same lines later. What cannot be read is unknown, for the tips that need it.

mod ancestor;
mod case;
mod contained;
mod diff;
mod edits;
mod history;
mod index;
mod line;
mod lines;
mod partial;
mod peel;
mod rebase;
mod reverted;
mod scene;
mod search;
mod squash;
mod trial;

use std::collections::HashMap;

use gix::ObjectId;

use crate::error::{Error, Result, chain};
use crate::git::Merger;
use crate::model::{Base, Fact, Landing};
use history::Node;
use line::Line;
use scene::{Member, World};

/// What to look at.
#[derive(Debug, Clone, Default)]
pub struct Range {
    /// For a base's name: only commits of the base that are not reachable from this one can prove (hooks).
    pub since: HashMap<gix::bstr::BString, ObjectId>,
}

/// What became of each tip, in the order of `tips`. The bases are indexed once for all tips.
pub fn prove(repo: &gix::Repository, bases: &[Base], tips: &[ObjectId], range: &Range) -> Vec<Fact<Landing>> {
    match judge(repo, bases, tips, range) {
        Ok(answers) => answers.into_iter().map(Fact::from).collect(),
        Err(error) => tips.iter().map(|_| Fact::Unknown(error.message.clone())).collect(),
    }
}

fn judge(repo: &gix::Repository, bases: &[Base], tips: &[ObjectId], range: &Range) -> Result<Vec<Result<Landing>>> {
    let mut world = World::new(repo, Merger::new(repo))?;
    let lines = lines(&mut world, bases, range)?;
    let tops: Vec<Node> = lines.iter().map(|(line, _)| line.tip()).collect();
    let tips: Vec<Node> = tips.iter().map(|id| world.history.node(*id)).collect();
    let mut unique = tips.clone();
    unique.sort_unstable();
    unique.dedup();

    let peeled = peel::peel(&mut world, &tops, &unique);
    let nodes: Vec<Node> = peeled.iter().filter_map(|p| p.as_ref().ok().copied()).collect();
    let mut best: Vec<Result<Landing>> = nodes.iter().map(|_| Ok(Landing::Unproven)).collect();
    for (line, members) in lines {
        let open: Vec<usize> = (0..nodes.len()).filter(|&at| !matches!(best[at], Ok(Landing::Landed(_)))).collect();
        let asked: Vec<Node> = open.iter().map(|&at| nodes[at]).collect();
        for (at, answer) in open.into_iter().zip(trial::judge(&mut world, line, members, &asked)) {
            if rank(&answer) > rank(&best[at]) {
                best[at] = answer;
            }
        }
    }
    let mut best = best.into_iter();
    let answers: HashMap<Node, Result<Landing>> = unique
        .into_iter()
        .zip(peeled)
        .map(|(node, peeled)| (node, peeled.and_then(|_| best.next().unwrap_or(Ok(Landing::Unproven)))))
        .collect();
    Ok(tips.iter().map(|node| answers.get(node).cloned().unwrap_or(Ok(Landing::Unproven))).collect())
}

/// Landed in any base is landed; what one base could not tell is not unproven in all.
fn rank(answer: &Result<Landing>) -> u8 {
    match answer {
        Ok(Landing::Unproven) => 0,
        Ok(Landing::CutOff) => 1,
        Ok(Landing::Partial { .. }) => 2,
        Err(_) => 3,
        Ok(Landing::Reverted { .. }) => 4,
        Ok(Landing::Landed(_)) => 5,
    }
}

/// The bases' lines. A base whose tip is on the line of another one shares it.
fn lines(world: &mut World<'_>, bases: &[Base], range: &Range) -> Result<Vec<(Line, Vec<Member>)>> {
    let mut lines: Vec<(Line, Vec<(usize, Node)>)> = Vec::new();
    for (at, base) in bases.iter().enumerate() {
        let tip = world.history.node(base.tip);
        let time = world.history.time(tip)?;
        let mut on = None;
        for (number, (line, _)) in lines.iter_mut().enumerate() {
            line.extend_to(&mut world.history, time)?;
            on = on.or(line.depth(tip).map(|_| number));
        }
        if let Some(number) = on {
            lines[number].1.push((at, tip));
            continue;
        }
        let (mut line, mut members) = (Line::new(tip), vec![(at, tip)]);
        let mut rest = Vec::new();
        for (other, its) in lines {
            let time = world.history.time(other.tip())?;
            line.extend_to(&mut world.history, time)?;
            if line.depth(other.tip()).is_some() {
                members.extend(its);
            } else {
                rest.push((other, its));
            }
        }
        members.sort_unstable();
        rest.push((line, members));
        lines = rest;
    }
    let mut found = Vec::new();
    for (mut line, its) in lines {
        let mut members = Vec::new();
        for (at, tip) in its {
            let base = &bases[at];
            let top = line.place(&mut world.history, tip)?;
            let (mut since, mut beside) = (None, None);
            if let Some(id) = range.since.get(&base.name) {
                let node = world.history.node(*id);
                since = line.newest_below(&mut world.history, node)?;
                beside = Some(node).filter(|n| line.depth(*n).is_none());
            }
            members.push(Member { name: base.name.clone(), top, since, beside });
        }
        found.push((line, members));
    }
    Ok(found)
}

/// An error of reading objects.
fn read(error: impl Into<gix::Error>) -> Error {
    let error: gix::Error = error.into();
    Error::failed("objects", chain(&error))
}
