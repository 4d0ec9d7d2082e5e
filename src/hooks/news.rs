//! What is new on the bases since the last sweep, and which shadows landed with it. The proofs look at nothing older.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::error::{Error, Result, chain};
use crate::git::{Repository, bases};
use crate::inspect::reflog;
use crate::journal::Cursor;
use crate::landing::{self, Range};
use crate::model::{Base, Fact, Landing, Shadow};
use crate::policy::Policy;

/// Where a base begins that no sweep has looked at yet.
#[derive(Debug, Clone)]
pub enum Start {
    /// At the value that it had before the last change: a merge that was just made is looked at.
    BeforeItsLastMove,
    /// At what was written down when the hook began.
    Given(BTreeMap<BString, ObjectId>),
}

/// The bases as they are, and from where each is new.
#[derive(Debug)]
pub struct News {
    /// Every base, with its tip.
    pub bases: Vec<Base>,
    range: Range,
    cursor: Cursor,
}

impl News {
    /// Read the bases and how far the last sweep looked.
    ///
    /// # Errors
    /// When no base can be told, or the cursor or a base's reflog cannot be read.
    pub fn read(repo: &Repository, policy: &Policy, start: &Start) -> Result<News> {
        let bases = match bases::resolve(repo, policy) {
            Fact::Known(bases) => bases,
            Fact::Unknown(why) => return Err(Error::failed("base-unresolved", why)),
            Fact::NotApplicable | Fact::NotAsked => Vec::new(),
        };
        let cursor = Cursor::read(repo)?;
        let gix = repo.local();
        let mut range = Range::default();
        for base in &bases {
            let name = base.name.as_bstr();
            // A history that was rewritten and collected leaves nothing to count from.
            let known = cursor.tip(name).filter(|tip| gix.has_object(*tip));
            let since = match (known, start) {
                (Some(tip), _) => tip,
                (None, Start::BeforeItsLastMove) => {
                    before(repo, name)?.filter(|old| gix.has_object(*old)).unwrap_or(base.tip)
                }
                (None, Start::Given(tips)) => tips.get(name).copied().unwrap_or(base.tip),
            };
            range.since.insert(base.name.clone(), since);
        }
        Ok(News { bases, range, cursor })
    }

    /// Nothing moved, and nothing waits to be looked at again.
    pub fn is_none(&self) -> bool {
        !self.moved() && !self.cursor.waits()
    }

    fn moved(&self) -> bool {
        self.bases.iter().any(|base| self.range.since.get(&base.name) != Some(&base.tip))
    }

    /// Those that landed in what is new, or had landed before and were held. Where a proof fails the judge will say so.
    pub fn landed(&self, repo: &Repository, shadows: Vec<Shadow>) -> Vec<Shadow> {
        let (tips, shadows): (Vec<ObjectId>, Vec<Shadow>) =
            shadows.into_iter().filter_map(|shadow| Some((shadow.tip()?, shadow))).unzip();
        let proofs = if self.moved() {
            landing::prove(&repo.local(), &self.bases, &tips, &self.range)
        } else {
            vec![Fact::NotAsked; tips.len()]
        };
        let landed = |proof: &Fact<Landing>| matches!(proof, Fact::Known(Landing::Landed(_)) | Fact::Unknown(_));
        let all = shadows.into_iter().zip(tips).zip(proofs);
        let here =
            all.filter(|((shadow, tip), proof)| landed(proof) || self.cursor.waits_for(shadow.name.as_bstr(), tip));
        here.map(|((shadow, _), _)| shadow).collect()
    }
}

/// The value of a ref before its last change.
fn before(repo: &Repository, name: &BStr) -> Result<Option<ObjectId>> {
    let file = gix::path::from_bstr(name).map_err(|error| Error::failed("reflog", chain(&error)))?;
    let log = reflog::read(&repo.common_dir().join("logs").join(file))?;
    Ok(log.last().map(|entry| entry.old).filter(|old| !old.is_null()))
}
