//! Rebase: each own commit, replayed on the parent of a commit of the base, gives exactly that commit; each on another
//! one, in order.

use super::case::Case;
use super::line::Depth;
use super::scene::Scene;
use super::search::{Proof, Search, solve};
use crate::error::Result;

/// For each case, for each of its own commits, the first commit of the line that it was replayed as.
pub(super) fn replays(scene: &mut Scene<'_, '_>, cases: &[(&Case, Depth)]) -> Vec<Result<Vec<Option<Depth>>>> {
    let mut searches = Vec::new();
    for (case, from) in cases {
        for at in 0..case.own.len() {
            searches.push(search(scene, case, at, *from));
        }
    }
    let mut found = solve(scene, searches).into_iter();
    cases.iter().map(|(case, _)| found.by_ref().take(case.own.len()).collect()).collect()
}

/// The commits that the own ones of a case became, if all of them did, in order.
pub(super) fn in_order(scene: &mut Scene<'_, '_>, case: &Case, first: &[Option<Depth>]) -> Result<Option<Vec<Depth>>> {
    if !case.linear || case.own.is_empty() || first.contains(&None) {
        return Ok(None);
    }
    let mut depths: Vec<Depth> = Vec::new();
    for (at, found) in first.iter().enumerate() {
        let mut found = *found;
        if let (Some(&before), Some(depth)) = (depths.last(), found)
            && depth >= before
        {
            let search = search(scene, case, at, before);
            found = solve(scene, vec![search]).pop().unwrap_or(Ok(None))?;
        }
        match found {
            Some(depth) => depths.push(depth),
            None => return Ok(None),
        }
    }
    Ok(Some(depths))
}

/// The commits that the own ones of a case became, if none of them needs a merge to be told. Spares git the merge of
/// the tip, which would name the last of them as well.
pub(super) fn plainly(scene: &mut Scene<'_, '_>, case: &Case, from: Depth) -> Result<Option<Vec<Depth>>> {
    if !case.linear || case.own.len() < 2 {
        return Ok(None);
    }
    let (mut depths, mut before) = (Vec::new(), from);
    for at in 0..case.own.len() {
        match search(scene, case, at, before)?.first(scene)? {
            Some((depth, true)) => before = depth,
            Some((_, false)) | None => return Ok(None),
        }
        depths.push(before);
    }
    Ok(Some(depths))
}

fn search(scene: &mut Scene<'_, '_>, case: &Case, at: usize, from: Depth) -> Result<Search> {
    let own = &case.own[at];
    let (base, theirs) = (scene.world.history.id(own.parent), scene.world.history.id(own.node));
    Search::new(scene, Proof::Replay, own.delta.clone(), (Some(base), theirs), (from, case.reach))
}
