//! Updates from the base on top of a branch: a merge that git makes again from its parents adds nothing, so the branch
//! is judged by what it was merged into.

use super::history::Node;
use super::scene::World;
use crate::error::Result;
use crate::git::Merge;

/// A merge of a base into a branch.
#[derive(Debug, Clone, Copy)]
struct Update {
    tip: Node,
    branch: Node,
    base: Node,
}

/// Each tip without the merges of a base on top of it.
pub(super) fn peel(world: &mut World<'_>, bases: &[Node], tips: &[Node]) -> Vec<Result<Node>> {
    let mut peeled: Vec<Result<Node>> = tips.iter().map(|t| Ok(*t)).collect();
    let mut open: Vec<usize> = (0..tips.len()).collect();
    while !open.is_empty() {
        let mut found = Vec::new();
        for at in open {
            let Ok(tip) = peeled[at] else { continue };
            match world.history.parents(tip) {
                Ok(parents) => {
                    if let [branch, base] = *parents {
                        found.push((at, Update { tip, branch, base }));
                    }
                }
                Err(error) => peeled[at] = Err(error),
            }
        }
        open = Vec::new();
        let updates: Vec<Update> = found.iter().map(|(_, update)| *update).collect();
        for ((at, update), adds_nothing) in found.into_iter().zip(add_nothing(world, bases, &updates)) {
            match adds_nothing {
                Ok(true) => {
                    peeled[at] = Ok(update.branch);
                    open.push(at);
                }
                Ok(false) => {}
                Err(error) => peeled[at] = Err(error),
            }
        }
    }
    peeled
}

/// Whether each is a merge of what is in a base, not in one itself, and what git makes of its parents.
fn add_nothing(world: &mut World<'_>, bases: &[Node], updates: &[Update]) -> Vec<Result<bool>> {
    let nodes: Vec<Node> = updates.iter().flat_map(|u| [u.tip, u.base]).collect();
    let known = world.history.reached(bases, &nodes);
    let mut asked: Vec<Result<Question>> = Vec::with_capacity(updates.len());
    for (number, update) in updates.iter().enumerate() {
        // Where one history cannot be read, it is asked for each alone.
        let in_base = match &known {
            Ok(known) => Ok(known[2 * number..2 * number + 2].to_vec()),
            Err(_) => world.history.reached(bases, &[update.tip, update.base]),
        };
        asked.push(in_base.and_then(|in_base| match in_base[..] {
            [false, true] => question(world, update),
            _ => Ok(Question::Answered(false)),
        }));
    }
    let merges = asked.iter().filter_map(|question| match question {
        Ok(Question::Merge(merge)) => Some(merge.clone()),
        Ok(Question::Answered(_)) | Err(_) => None,
    });
    world.merge(merges.collect::<Vec<_>>());
    let answer = |(asked, update): (Result<Question>, &Update)| match asked? {
        Question::Answered(answer) => Ok(answer),
        Question::Merge(merge) => {
            let tree = world.history.tree(update.tip)?;
            world.merged(&merge, tree)
        }
    };
    asked.into_iter().zip(updates).map(answer).collect()
}

enum Question {
    Answered(bool),
    Merge(Merge),
}

/// The merge that git would have to make again, unless it is plain what comes of it.
fn question(world: &mut World<'_>, update: &Update) -> Result<Question> {
    let relation =
        world.history.relate(update.base, &[update.branch]).pop().unwrap_or_else(|| Ok(Default::default()))?;
    let base = match relation.bases[..] {
        [base] => Some(base),
        _ if relation.in_base => Some(update.branch),
        _ => None,
    };
    // The branch's change of the very same entries on top of the base: neither side touched what the other did.
    if let Some(base) = base
        && world.delta(base, update.branch)? == world.delta(update.base, update.tip)?
    {
        return Ok(Question::Answered(true));
    }
    let base = base.map(|base| world.history.id(base));
    Ok(Question::Merge(Merge { base, ours: world.history.id(update.branch), theirs: world.history.id(update.base) }))
}
