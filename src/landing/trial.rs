//! All proofs for all tips beside one base line, cheapest first.

use super::case::{Case, Proof};
use super::history::Node;
use super::index::Index;
use super::line::{Depth, Line};
use super::reverted::{self, Undone};
use super::scene::{Member, Scene, World};
use super::search::{self, Search, solve};
use super::{ancestor, partial, rebase};
use crate::error::{Error, Result};
use crate::model::{How, Landed, Landing};

/// What became of each tip, as far as the bases on this line know.
pub(super) fn judge(
    world: &mut World<'_>,
    mut line: Line,
    members: Vec<Member>,
    tips: &[Node],
) -> Vec<Result<Landing>> {
    let relations = world.history.relate(line.tip(), tips);
    let mut answers: Vec<Result<Landing>> = tips.iter().map(|_| Ok(Landing::Unproven)).collect();
    let mut oldest = i64::MAX;
    for (relation, &tip) in relations.iter().zip(tips) {
        let Ok(relation) = relation else { continue };
        let in_base = relation.in_base.then_some(tip);
        for node in in_base.into_iter().chain(relation.boundary.iter().copied()) {
            oldest = oldest.min(world.history.time(node).unwrap_or(i64::MAX));
        }
    }
    // A line that ends in an error fails again where it is needed.
    let _ = line.extend_to(&mut world.history, oldest);
    let (mut cases, mut ancestors) = (Vec::new(), Vec::new());
    for (asked, (relation, &tip)) in relations.into_iter().zip(tips).enumerate() {
        answers[asked] = match relation {
            Err(error) => Err(error),
            Ok(relation) if relation.in_base => {
                ancestors.push((asked, tip));
                continue;
            }
            Ok(relation) => {
                let nothing = if relation.cut { Landing::CutOff } else { Landing::Unproven };
                match Case::prepare(world, &mut line, asked, tip, relation) {
                    Ok(Some(case)) => {
                        cases.push(case);
                        continue;
                    }
                    Ok(None) => Ok(nothing),
                    Err(error) => Err(error),
                }
            }
        };
    }
    let limit = cases.iter().map(|c| c.reach.max(c.from + 1)).max().unwrap_or(0);
    let mut scene = Scene { index: Index::empty(&line), world, line, members };
    let limit = limit.min(scene.oldest());
    let Scene { world, line, .. } = &mut scene;
    match Index::build(world.repo, &mut world.history, &mut world.catalog, line, limit) {
        Ok(index) => {
            scene.index = index;
            for (case, answer) in cases.iter().zip(trials(&mut scene, &cases)) {
                answers[case.asked] = answer;
            }
        }
        Err(error) => cases.iter().for_each(|case| answers[case.asked] = Err(error.clone())),
    }
    for (asked, tip) in ancestors {
        answers[asked] = ancestor::prove(&mut scene, tip);
    }
    answers
}

/// A case on trial: where to look next, and a landing that was undone.
struct Trial<'c> {
    case: &'c Case,
    from: Depth,
    undone: Option<(Proof, Undone, bool)>,
    verdict: Option<Result<Landing>>,
}

fn trials(scene: &mut Scene<'_, '_>, cases: &[Case]) -> Vec<Result<Landing>> {
    let oldest = scene.oldest();
    let mut trials: Vec<Trial<'_>> =
        cases.iter().map(|case| Trial { case, from: case.from.min(oldest), undone: None, verdict: None }).collect();
    // Each round ends a trial or moves it on behind a commit that undid the landing.
    while trials.iter().any(|t| t.verdict.is_none()) {
        round(scene, &mut trials);
    }
    let lost = || Err(Error::failed("landing", "a trial did not end"));
    trials.into_iter().map(|t| t.verdict.unwrap_or_else(lost)).collect()
}

fn round(scene: &mut Scene<'_, '_>, trials: &mut [Trial<'_>]) {
    let mut open: Vec<&mut Trial<'_>> = trials.iter_mut().filter(|t| t.verdict.is_none()).collect();
    let mut errors: Vec<Option<Error>> = open.iter().map(|_| None).collect();
    let mut proofs: Vec<Option<Proof>> = open.iter().map(|_| None).collect();
    let mut replays: Vec<Vec<Option<Depth>>> = open.iter().map(|_| Vec::new()).collect();

    for (at, found) in tips(scene, &open, &proofs, search::Proof::Replay) {
        note(found, &mut proofs[at], &mut errors[at]);
    }
    let rest: Vec<usize> = (0..open.len()).filter(|&at| proofs[at].is_none()).collect();
    let oldest = scene.oldest();
    let from = |t: &Trial<'_>| if t.case.linear { t.from } else { t.from.max(t.case.reach).min(oldest) };
    let asked: Vec<(&Case, Depth)> = rest.iter().map(|&at| (open[at].case, from(open[at]))).collect();
    for (&at, found) in rest.iter().zip(rebase::replays(scene, &asked)) {
        let ordered = found.and_then(|found| {
            let ordered = rebase::in_order(scene, open[at].case, &found);
            replays[at] = found;
            ordered
        });
        note(ordered.map(|o| o.map(|depths| Proof { how: How::Rebase, depths })), &mut proofs[at], &mut errors[at]);
    }
    for (at, found) in tips(scene, &open, &proofs, search::Proof::Contained) {
        note(found, &mut proofs[at], &mut errors[at]);
    }
    for (((trial, proof), error), replays) in open.iter_mut().zip(proofs).zip(errors).zip(replays) {
        close(scene, trial, proof, error, &replays);
    }
}

/// What proves each tip as a whole that has no proof yet.
fn tips(
    scene: &mut Scene<'_, '_>,
    open: &[&mut Trial<'_>],
    proofs: &[Option<Proof>],
    kind: search::Proof,
) -> Vec<(usize, Result<Option<Proof>>)> {
    let (mut answers, mut asked, mut searches) = (Vec::new(), Vec::new(), Vec::new());
    for (at, trial) in open.iter().enumerate().filter(|(at, _)| proofs[*at].is_none()) {
        let case = trial.case;
        // The merge that brought the merge base may have brought the work as well.
        let beside = kind == search::Proof::Contained && !case.on_line && trial.undone.is_none();
        let from = if beside { (trial.from + 1).min(scene.oldest()) } else { trial.from };
        let merge = (case.base(scene.world), scene.world.history.id(case.tip));
        let mut search = Search::new(scene, kind, case.delta.clone(), merge, (from, case.reach));
        if beside {
            search = search.map(|search| search.also(trial.from));
        }
        if let (search::Proof::Replay, Ok(search)) = (kind, &mut search)
            && let Ok(Some(depths)) = spared(scene, trial, search)
        {
            answers.push((at, Ok(Some(Proof { how: How::Rebase, depths }))));
            continue;
        }
        asked.push(at);
        searches.push(search);
    }
    let how = if kind == search::Proof::Replay { How::Squash } else { How::Contained };
    let proof = |found: Option<Depth>| found.map(|depth| Proof { how, depths: vec![depth] });
    answers.extend(asked.into_iter().zip(solve(scene, searches).into_iter().map(|found| found.map(proof))));
    answers
}

/// The commits of a plain rebase, where git would have to merge to tell the tip and not name an older commit.
fn spared(scene: &mut Scene<'_, '_>, trial: &Trial<'_>, search: &mut Search) -> Result<Option<Vec<Depth>>> {
    let Some((first, false)) = search.first(scene)? else { return Ok(None) };
    let depths = rebase::plainly(scene, trial.case, trial.from)?;
    Ok(depths.filter(|depths| depths.last().is_some_and(|last| *last >= first)))
}

fn note(found: Result<Option<Proof>>, proof: &mut Option<Proof>, error: &mut Option<Error>) {
    match found {
        Ok(found) => *proof = found,
        Err(failed) => *error = Some(failed),
    }
}

/// What a round means for a case: its verdict, or that it goes on behind a commit that undid the landing.
fn close(
    scene: &mut Scene<'_, '_>,
    trial: &mut Trial<'_>,
    proof: Option<Proof>,
    error: Option<Error>,
    replays: &[Option<Depth>],
) {
    let verdict = match (proof, error, trial.undone.take()) {
        (Some(proof), _, _) => match reverted::undone(scene, trial.case, &proof) {
            Ok(Some((undone, still))) => {
                trial.from = undone.depth;
                trial.undone = Some((proof, undone, still));
                return;
            }
            Ok(None) => landed(scene, &proof).map(Landing::Landed),
            Err(error) => Err(error),
        },
        (None, Some(error), _) => Err(error),
        (None, None, Some((proof, undone, still))) => landed(scene, &proof)
            .map(|landed| if still { Landing::Reverted { landed, by: undone.by } } else { Landing::Landed(landed) }),
        (None, None, None) => partial::judge(scene, trial.case, replays),
    };
    trial.verdict = Some(verdict);
}

fn landed(scene: &mut Scene<'_, '_>, proof: &Proof) -> Result<Landed> {
    let lost = || Error::failed("landing", "a proof belongs to no base");
    let depth = *proof.depths.last().ok_or_else(lost)?;
    let base = scene.base_of(depth).ok_or_else(lost)?.name.clone();
    let node = scene.at(depth)?;
    Ok(Landed { how: proof.how, commit: scene.world.history.id(node), base })
}
