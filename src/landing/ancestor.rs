//! Ancestor: the tip is reachable from the base. Names the merge that brought it, or the tip where it is on the
//! base's own line.

use super::history::Node;
use super::reverted;
use super::scene::Scene;
use crate::error::Result;
use crate::model::{How, Landed, Landing};

/// What a tip that the line reaches means for the bases on it.
pub(super) fn prove(scene: &mut Scene<'_, '_>, tip: Node) -> Result<Landing> {
    let depth = scene.line.place(&mut scene.world.history, tip)?;
    let Some(member) = scene.base_of(depth) else { return Ok(Landing::Unproven) };
    let (base, beside) = (member.name.clone(), member.beside);
    if let Some(since) = beside
        && scene.world.history.reaches(since, tip)?
    {
        return Ok(Landing::Unproven);
    }
    let node = scene.at(depth)?;
    let landed = Landed { how: How::Ancestor, commit: scene.world.history.id(node), base };
    Ok(match reverted::merge_undone(scene, node, tip)? {
        Some(by) => Landing::Reverted { landed, by },
        None => Landing::Landed(landed),
    })
}
