//! What is reachable from where: one walk for all tips, never one a tip.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::error::{Error, Result, chain};
use crate::git::refs::{Refs, Target};
use crate::model::{Base, Fact, RefAt, short_name};

/// The commits that tips reach and others do not, with their parents.
#[derive(Debug, Default)]
pub struct Outside {
    commits: HashMap<ObjectId, Vec<ObjectId>>,
    errors: HashMap<ObjectId, String>,
}

impl Outside {
    /// Walk from `tips`, leaving out what `hidden` reaches. A tip whose history cannot be read has its own error.
    pub fn walk(repo: &gix::Repository, tips: &HashSet<ObjectId>, hidden: &[ObjectId]) -> Outside {
        match Self::walk_once(repo, tips.iter().copied(), hidden) {
            Ok(commits) => Outside { commits, errors: HashMap::new() },
            Err(_) => {
                // One broken history must not speak for the others.
                let mut outside = Outside::default();
                for tip in tips {
                    match Self::walk_once(repo, [*tip], hidden) {
                        Ok(commits) => outside.commits.extend(commits),
                        Err(e) => drop(outside.errors.insert(*tip, e.message)),
                    }
                }
                outside
            }
        }
    }

    fn walk_once(
        repo: &gix::Repository,
        tips: impl IntoIterator<Item = ObjectId>,
        hidden: &[ObjectId],
    ) -> Result<HashMap<ObjectId, Vec<ObjectId>>> {
        let cannot = |e: &(dyn std::error::Error + 'static)| Error::failed("walk", chain(e));
        let mut commits = HashMap::new();
        for info in repo.rev_walk(tips).with_hidden(hidden.iter().copied()).all().map_err(|e| cannot(&e))? {
            let info = info.map_err(|e| cannot(&e))?;
            commits.insert(info.id, info.parent_ids.iter().copied().collect());
        }
        Ok(commits)
    }

    /// How many commits this tip reaches that the hidden ones do not.
    ///
    /// # Errors
    /// When its history could not be read.
    pub fn count(&self, tip: ObjectId) -> Result<usize, String> {
        self.reached(tip).map(|reached| reached.len())
    }

    /// Those commits.
    ///
    /// # Errors
    /// When its history could not be read.
    pub fn reached(&self, tip: ObjectId) -> Result<HashSet<ObjectId>, String> {
        if let Some(error) = self.errors.get(&tip) {
            return Err(error.clone());
        }
        let mut reached = HashSet::new();
        let mut next = vec![tip];
        while let Some(id) = next.pop() {
            if let Some(parents) = self.commits.get(&id)
                && reached.insert(id)
            {
                next.extend(parents);
            }
        }
        Ok(reached)
    }
}

/// Reachability of all tips of a repository.
#[derive(Debug)]
pub struct Reach {
    bases: Vec<(RefAt, Outside)>,
    /// Where there is not just one base, which says the same.
    outside_bases: Option<Outside>,
    outside_all: Outside,
    remotes: Vec<RefAt>,
    /// Commits in no base, with the first remote-tracking ref that reaches them.
    on_remotes: HashMap<ObjectId, usize>,
}

impl Reach {
    /// Walk once for each base that points elsewhere than the ones before, and twice for all.
    pub fn new(repo: &gix::Repository, tips: &HashSet<ObjectId>, bases: &[Base], refs: &Refs) -> Reach {
        let base_tips: Vec<ObjectId> = bases.iter().map(|b| b.tip).collect();
        let mut remotes = remote_refs(refs);
        // A ref whose commit is not here proves nothing, and would stop the walk for all.
        remotes.retain(|(_, id)| repo.has_object(id));
        let all: Vec<ObjectId> = base_tips.iter().copied().chain(remotes.iter().map(|(_, id)| *id)).collect();
        let mut walked: Vec<(RefAt, Outside)> = Vec::new();
        for base in bases {
            if walked.iter().all(|((_, tip), _)| *tip != base.tip) {
                walked.push(((base.name.clone(), base.tip), Outside::walk(repo, tips, &[base.tip])));
            }
        }
        Reach {
            outside_bases: (walked.len() != 1).then(|| Outside::walk(repo, tips, &base_tips)),
            bases: walked,
            outside_all: Outside::walk(repo, tips, &all),
            on_remotes: on_remotes(repo, &remotes, &base_tips),
            remotes,
        }
    }

    /// The first base that reaches the tip.
    pub fn in_base(&self, tip: ObjectId) -> Fact<Option<RefAt>> {
        for (base, outside) in &self.bases {
            match outside.count(tip) {
                Ok(0) => return Fact::Known(Some(base.clone())),
                Ok(_) => {}
                Err(e) => return Fact::Unknown(e),
            }
        }
        Fact::Known(None)
    }

    /// Commits of the tip that are in no base.
    pub fn own_commits(&self, tip: ObjectId) -> Fact<usize> {
        let outside = self.outside_bases.as_ref().or(self.bases.first().map(|(_, outside)| outside));
        outside.map_or(Fact::NotAsked, |outside| outside.count(tip).into())
    }

    /// Commits of the tip that are in no base and on no remote.
    pub fn unpushed(&self, tip: ObjectId) -> Fact<usize> {
        self.outside_all.count(tip).into()
    }

    /// A remote-tracking ref that reaches the tip; for a branch the one of its own name before others.
    pub fn on_remote(&self, tip: ObjectId, branch: Option<&BStr>) -> Option<RefAt> {
        let own = branch.map(short_name).and_then(|own| {
            let ends = |name: &BString| name.strip_suffix(own.as_bytes()).is_some_and(|rest| rest.ends_with(b"/"));
            self.remotes.iter().find(|(name, id)| *id == tip && ends(name))
        });
        let same = || self.remotes.iter().find(|(_, id)| *id == tip);
        let reached = || self.on_remotes.get(&tip).map(|n| &self.remotes[*n]);
        own.or_else(same).or_else(reached).cloned()
    }
}

/// Every remote-tracking ref that is not just another name for one (`origin/HEAD`).
fn remote_refs(refs: &Refs) -> Vec<RefAt> {
    let objects = refs.remotes.iter().filter_map(|(name, target)| match target {
        Target::Object(id) => Some((name.clone(), *id)),
        Target::Symbolic(_) | Target::Broken(_) => None,
    });
    objects.collect()
}

fn on_remotes(repo: &gix::Repository, remotes: &[RefAt], base_tips: &[ObjectId]) -> HashMap<ObjectId, usize> {
    let tips: HashSet<ObjectId> = remotes.iter().map(|(_, id)| *id).collect();
    let outside = Outside::walk(repo, &tips, base_tips);
    let mut on = HashMap::new();
    for (n, (_, tip)) in remotes.iter().enumerate() {
        // A remote-tracking ref that cannot be read proves nothing.
        for id in outside.reached(*tip).unwrap_or_default() {
            on.entry(id).or_insert(n);
        }
    }
    on
}
