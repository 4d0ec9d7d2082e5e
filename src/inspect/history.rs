//! What refs, reflogs and the proofs say of branches and HEADs, read once for all shadows of a repository.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use once_cell::sync::OnceCell;

use super::reach::Reach;
use super::reflog::{self, Entry, Made};
use crate::discover::Discovery;
use crate::error::{Error, Result, chain};
use crate::git::Repository;
use crate::git::refs::Target;
use crate::inspect::protect;
use crate::landing;
use crate::model::{
    Base, Branch, BranchFacts, Fact, Landing, Registration, RepositoryFacts, Shadow, Timestamp, Unpushed, WorktreeFacts,
};
use crate::policy::Policy;

/// Histories of all tips that are asked about.
#[derive(Debug)]
pub struct History {
    /// `None`: no base can be told.
    bases: Option<Vec<Base>>,
    reach: Reach,
    /// Tips whose commit cannot be read.
    missing: HashMap<ObjectId, String>,
    logs: HashMap<BString, Result<Vec<Entry>, String>>,
    /// The commits that the bases themselves were at; few need it.
    first_parents: OnceCell<HashSet<ObjectId>>,
    repo: Repository,
    landings: HashMap<ObjectId, Fact<Landing>>,
    not_pushed: HashSet<ObjectId>,
    protected: HashMap<BString, String>,
    gone: HashSet<BString>,
}

impl History {
    /// Read them.
    pub fn read(
        repo: &Repository,
        gix: &gix::Repository,
        policy: &Policy,
        facts: &RepositoryFacts,
        discovery: &Discovery,
        shadows: &[&Shadow],
    ) -> History {
        let bases = facts.bases.known().cloned();
        let known = bases.clone().unwrap_or_default();
        let branches: Vec<&Branch> = shadows.iter().filter_map(|s| s.branch.as_ref()).collect();
        let heads = shadows.iter().filter_map(|s| s.worktree.as_ref()).filter_map(|r| r.head.commit());
        let mut tips: HashSet<ObjectId> = branches.iter().filter_map(|b| b.tip).chain(heads).collect();
        let mut missing = HashMap::new();
        tips.retain(|tip| match gix.find_commit(*tip) {
            Ok(_) => true,
            Err(e) => {
                missing.insert(*tip, chain(&e));
                false
            }
        });
        let logs = branches.iter().map(|b| (b.name.clone(), branch_log(repo, b).map_err(|e| e.message))).collect();
        let mut history = History {
            reach: Reach::new(gix, &tips, &known, &discovery.refs),
            missing,
            logs,
            first_parents: OnceCell::new(),
            repo: repo.clone(),
            landings: HashMap::new(),
            not_pushed: HashSet::new(),
            protected: HashMap::new(),
            gone: HashSet::new(),
            bases,
        };
        history.prove(gix, policy, &known, &tips, discovery);
        let protection = protect::Protection::read(repo, policy, &known);
        for branch in branches {
            if let Some(why) = protection.of(policy, branch.name.as_bstr()) {
                history.protected.insert(branch.name.clone(), why);
            }
            if upstream_gone(gix, branch, discovery) {
                history.gone.insert(branch.name.clone());
            }
        }
        history
    }

    fn prove(
        &mut self,
        gix: &gix::Repository,
        policy: &Policy,
        bases: &[Base],
        tips: &HashSet<ObjectId>,
        discovery: &Discovery,
    ) {
        if self.bases.is_none() {
            return;
        }
        let mut asked: Vec<ObjectId> = tips.iter().copied().collect();
        asked.sort();
        let proved = landing::prove(gix, bases, &asked, &landing::Range::default());
        if *policy.landing_pushed {
            let commits: HashSet<ObjectId> =
                proved.iter().filter_map(|l| l.known()).filter_map(landing_commit).collect();
            let pushed: Vec<Base> = bases.iter().filter(|b| b.name.starts_with(b"refs/remotes/")).cloned().collect();
            let reach = Reach::new(gix, &commits, &pushed, &discovery.refs);
            self.not_pushed = commits.into_iter().filter(|c| reach.unpushed(*c) != Fact::Known(0)).collect();
        }
        self.landings = asked.into_iter().zip(proved).collect();
    }

    /// Facts about a branch.
    pub fn branch(&self, branch: &Branch, discovery: &Discovery) -> BranchFacts {
        let users = discovery.users.iter().filter(|(name, _)| *name == branch.name).map(|(_, user)| user.clone());
        let mut facts = BranchFacts {
            symref: match discovery.refs.heads.get(&branch.name) {
                Some(Target::Object(_)) => Fact::Known(false),
                Some(Target::Symbolic(_)) => Fact::Known(true),
                Some(Target::Broken(error)) => Fact::Unknown(error.clone()),
                None => Fact::Unknown("it is gone".into()),
            },
            users: users.collect(),
            protected: Fact::Known(self.protected.get(&branch.name).cloned()),
            undone: Fact::Known(false),
            upstream_gone: Fact::Known(self.gone.contains(&branch.name)),
            ..BranchFacts::default()
        };
        let Some(tip) = branch.tip else { return facts };
        if let Some(error) = self.missing.get(&tip) {
            facts.landing = Fact::Unknown(error.clone());
            return facts;
        }
        let log = self.logs.get(&branch.name).cloned().unwrap_or_else(|| Ok(Vec::new()));
        facts.own_work = log.map(|log| self.own_work(&log, tip)).into();
        facts.own_commits = self.reach.own_commits(tip);
        facts.unpushed = self.reach.unpushed(tip);
        facts.in_base = self.reach.in_base(tip);
        facts.on_remote = Fact::Known(self.reach.on_remote(tip, Some(branch.name.as_bstr())));
        // What made no commit has nothing that could land, or be undone on the base.
        let is_unused = facts.own_work == Fact::Known(false) && matches!(facts.in_base, Fact::Known(Some(_)));
        facts.landing = if is_unused { Fact::NotApplicable } else { self.landing(tip) };
        let commit = facts.landing.known().and_then(landing_commit);
        facts.landed_locally_only = Fact::Known(commit.is_some_and(|c| self.not_pushed.contains(&c)));
        facts
    }

    /// Facts about what HEAD of a registration reaches.
    pub fn head(&self, registration: &Registration, facts: &mut WorktreeFacts) {
        let Some(head) = registration.head.commit() else {
            facts.unpushed = Fact::NotApplicable;
            return;
        };
        if let Some(error) = self.missing.get(&head) {
            facts.unpushed = Fact::Unknown(error.clone());
            return;
        }
        let detached = matches!(registration.head, crate::model::Head::Detached(_));
        facts.unpushed = self.reach.unpushed(head).map(|count| Unpushed { count, detached });
        facts.head_in_base = self.reach.in_base(head);
        facts.head_on_remote = Fact::Known(self.reach.on_remote(head, None));
        facts.head_landing = self.landing(head);
    }

    /// When the branch last moved, by its reflog.
    pub fn last_entry(&self, branch: &Branch) -> Fact<Option<Timestamp>> {
        self.of_log(branch, |log| log.iter().map(|e| e.time).max())
    }

    /// What its reflog says first.
    pub fn first_entry(&self, branch: &Branch) -> Fact<Option<Timestamp>> {
        self.of_log(branch, |log| log.first().map(|e| e.time))
    }

    fn of_log(&self, branch: &Branch, time: impl Fn(&[Entry]) -> Option<Timestamp>) -> Fact<Option<Timestamp>> {
        match self.logs.get(&branch.name) {
            Some(Ok(log)) => Fact::Known(time(log)),
            Some(Err(error)) => Fact::Unknown(error.clone()),
            None => Fact::NotApplicable,
        }
    }

    /// Whether one of the entries made a commit. Where the entries before the first are lost (expired, or not written),
    /// its old value is asked.
    pub fn made_a_commit(&self, log: &[Entry]) -> bool {
        let before = log.first().filter(|first| !first.old.is_null());
        let mut made = log.iter().map(|entry| match reflog::made(entry) {
            Made::Commit => true,
            Made::Nothing => false,
            Made::AskTheBase => !self.on_base_line(entry.new),
        });
        made.any(|made| made) || before.is_some_and(|first| !self.on_base_line(first.old))
    }

    /// Without a reflog the tip is asked.
    fn own_work(&self, log: &[Entry], tip: ObjectId) -> bool {
        if log.is_empty() { !self.on_base_line(tip) } else { self.made_a_commit(log) }
    }

    fn on_base_line(&self, commit: ObjectId) -> bool {
        let line = || first_parents(&self.repo.local(), self.bases.as_deref().unwrap_or_default());
        self.first_parents.get_or_init(line).contains(&commit)
    }

    fn landing(&self, tip: ObjectId) -> Fact<Landing> {
        if self.bases.is_none() {
            return Fact::NotApplicable;
        }
        self.landings.get(&tip).cloned().unwrap_or_default()
    }
}

fn landing_commit(landing: &Landing) -> Option<ObjectId> {
    match landing {
        Landing::Landed(landed) => Some(landed.commit),
        Landing::Partial { .. } | Landing::Reverted { .. } | Landing::Unproven | Landing::CutOff => None,
    }
}

fn branch_log(repo: &Repository, branch: &Branch) -> Result<Vec<Entry>> {
    let name = gix::path::from_bstr(branch.name.as_bstr()).map_err(|e| Error::failed("reflog", chain(&e)))?;
    reflog::read(&repo.common_dir().join("logs").join(name))
}

fn first_parents(gix: &gix::Repository, bases: &[Base]) -> HashSet<ObjectId> {
    let mut line = HashSet::new();
    for base in bases {
        let Ok(walk) = gix.rev_walk([base.tip]).first_parent_only().all() else { continue };
        for info in walk {
            // A line that breaks off leaves the rest out: then more counts as own work, and is held.
            let Ok(info) = info else { break };
            if !line.insert(info.id) {
                break;
            }
        }
    }
    line
}

fn upstream_gone(gix: &gix::Repository, branch: &Branch, discovery: &Discovery) -> bool {
    let Ok(name) = gix::refs::FullName::try_from(branch.name.as_bstr()) else { return false };
    match gix.branch_remote_tracking_ref_name(name.as_ref(), gix::remote::Direction::Fetch) {
        Some(Ok(tracking)) => !discovery.refs.remotes.contains_key(tracking.as_bstr()),
        Some(Err(_)) | None => false,
    }
}
