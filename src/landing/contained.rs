//! Contained: merging the tip into a commit of the base changes nothing.

use super::diff::ABSENT;
use super::line::Depth;
use super::scene::Scene;
use super::search::{Candidate, Content, Search};
use crate::error::Result;

/// What the index says: would merging the tip into the commit at this depth change nothing?
pub(super) fn candidate(scene: &mut Scene<'_, '_>, search: &Search, depth: Depth) -> Result<Candidate> {
    if search.base.is_none() {
        return Ok(Candidate::Ask(Vec::new()));
    }
    let deletes = search.delta.deletes();
    let (mut contents, mut plain) = (Vec::new(), true);
    for change in &search.delta.changes {
        let (b, t) = (change.old, change.new);
        let r = scene.entry_at(change.path, depth)?;
        if r == b {
            return Ok(Candidate::No);
        }
        // Where a file is new or gone it may be half of a rename, then git must say.
        plain &= r == t && b != ABSENT && t != ABSENT;
        if r == t {
            continue;
        }
        let file = |entry| scene.world.catalog.file(entry).is_some();
        let both = [b, r, t].into_iter().all(file);
        if both {
            contents.push(Content { base: Some(b), ours: r, theirs: t, result: r });
        }
        let renamed = r == ABSENT && t != ABSENT && !search.renamed.is_empty();
        let added = b == ABSENT && r != ABSENT && t != ABSENT && deletes;
        if !both && !renamed && !added {
            return Ok(Candidate::No);
        }
    }
    Ok(if plain { Candidate::Yes } else { Candidate::Ask(contents) })
}
