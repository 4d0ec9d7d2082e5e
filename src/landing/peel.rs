//! Updates from the base on top of a branch: a merge that git makes again from its parents adds nothing, so the branch
//! is judged by what it was merged into.

use super::history::Node;
use super::scene::World;
use crate::error::Result;
use crate::git::Merge;

/// Each tip without the merges of a base on top of it.
pub(super) fn peel(world: &mut World<'_>, bases: &[Node], tips: &[Node]) -> Vec<Result<Node>> {
    let mut peeled: Vec<Result<Node>> = tips.iter().map(|t| Ok(*t)).collect();
    let mut open: Vec<usize> = (0..tips.len()).collect();
    while !open.is_empty() {
        let mut merges = Vec::new();
        for at in open {
            match candidate(world, bases, &peeled[at]) {
                Ok(Some(merge)) => merges.push((at, merge)),
                Ok(None) => {}
                Err(error) => peeled[at] = Err(error),
            }
        }
        world.merge(merges.iter().map(|(_, (_, merge))| merge.clone()).collect::<Vec<_>>());
        open = Vec::new();
        for (at, (parent, merge)) in merges {
            let Ok(tip) = peeled[at] else { continue };
            match world.history.tree(tip).and_then(|tree| world.merged(&merge, tree)) {
                Ok(true) => {
                    peeled[at] = Ok(parent);
                    open.push(at);
                }
                Ok(false) => {}
                Err(error) => peeled[at] = Err(error),
            }
        }
    }
    peeled
}

/// The first parent of a merge whose other parent is in a base while it is in none itself.
fn candidate(world: &mut World<'_>, bases: &[Node], tip: &Result<Node>) -> Result<Option<(Node, Merge)>> {
    let Ok(tip) = *tip else { return Ok(None) };
    let [first, second] = *world.history.parents(tip)? else { return Ok(None) };
    if world.history.reached(bases, &[tip, second])? != [false, true] {
        return Ok(None);
    }
    let merge = Merge { base: None, ours: world.history.id(first), theirs: world.history.id(second) };
    Ok(Some((first, merge)))
}
