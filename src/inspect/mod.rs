//! One probe per fact; what cannot be read is `Unknown`, never an error that ends the run.
//!
//! Facts of a repository are read once for all its shadows (refs, walks, proofs), facts of a worktree by
//! [`worktree::probe`].

mod excludes;
mod files;
mod hidden_edits;
mod history;
mod ignored;
mod index;
mod lock;
pub mod marks;
pub mod mirror;
pub mod operation;
mod place;
mod private_refs;
pub mod protect;
mod reach;
pub mod reflog;
pub mod session_root;
mod snapshot;
mod staged;
mod status;
mod submodule;
mod walk;
pub mod worktree;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use gix::bstr::{BString, ByteSlice as _};

use crate::discover::{self, Discovery};
use crate::git::{Repository, bases};
use crate::lease::Leases;
use crate::model::{Age, Evidence, Fact, Head, Lease, Place, RepositoryFacts, Shadow, Timestamp, Use, WorktreeFacts};
use crate::policy::Policy;
use crate::sys;
use history::History;

/// How much to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Walks of ignored trees only where nothing cheaper holds.
    Thrifty,
    /// Everything.
    Everything,
}

/// Facts of the machine, gathered once a run.
#[derive(Debug)]
pub struct Host {
    /// Who has what open.
    pub processes: Fact<sys::process::Processes>,
    /// What is mounted where.
    pub mounts: Fact<sys::mounts::Mounts>,
    /// Leases.
    pub leases: Leases,
    /// The invoking shell's directory, by device and inode from there up to the root.
    pub here: Fact<Vec<(u64, u64)>>,
    /// Why paths that seem gone may only be out of sight.
    pub confined: Option<String>,
    /// When the machine booted.
    pub booted_at: Option<Timestamp>,
    /// The instant of the run.
    pub now: Timestamp,
    /// How many worktrees to look at at once.
    pub jobs: usize,
}

/// Everything about the shadows of `discovery` that are ours, and in `only` if that is given. The others come back
/// with nothing asked.
pub fn inspect(
    repo: &Repository,
    policy: &Policy,
    host: &Host,
    discovery: &Discovery,
    only: Option<&HashSet<BString>>,
    depth: Depth,
) -> (RepositoryFacts, Vec<Evidence>) {
    let gix = repo.local();
    let facts =
        RepositoryFacts { bases: bases::resolve(repo, policy), mirror: mirror::mirror(repo), grafts: grafts(repo) };
    let is_asked = |s: &&Shadow| !s.foreign && only.is_none_or(|only| only.contains(&s.name));
    let (asked, unasked): (Vec<&Shadow>, Vec<&Shadow>) = discovery.shadows.iter().partition(is_asked);
    let history = History::read(repo, &gix, policy, &facts, discovery, &asked);
    let scene = worktree::Scene { repo, gix: &gix, policy, host, registrations: &discovery.registrations };
    let places: HashMap<&BString, Fact<Place>> =
        discovery.registrations.iter().map(|r| &r.id).zip(worktree::places(scene)).collect();
    let mut evidence = sys::threads::map(host.jobs, &asked, |shadow| {
        let place = shadow.worktree.as_ref().and_then(|r| places.get(&r.id)).cloned().unwrap_or_default();
        examine(repo, policy, host, discovery, &history, &place, shadow, depth)
    });
    fill_in_use(host, &mut evidence);
    for one in &mut evidence {
        if let (Some(worktree), Some(registration)) = (&mut one.worktree, &one.shadow.worktree) {
            let path = registration.path.as_deref();
            worktree.primary = path.and_then(|path| protect::primary(repo, &facts.bases, path));
        }
    }
    evidence.extend(unasked.into_iter().map(|shadow| Evidence::not_asked(shadow.clone())));
    evidence.sort_by(|a, b| a.shadow.name.cmp(&b.shadow.name));
    (facts, evidence)
}

#[expect(clippy::too_many_arguments, reason = "all of them are what the closure above shares between threads")]
fn examine(
    repo: &Repository,
    policy: &Policy,
    host: &Host,
    discovery: &Discovery,
    history: &History,
    place: &Fact<Place>,
    shadow: &Shadow,
    depth: Depth,
) -> Evidence {
    let mut times = Vec::new();
    let worktree = shadow.worktree.as_ref().map(|registration| {
        let gix = repo.local();
        let scene = worktree::Scene { repo, gix: &gix, policy, host, registrations: &discovery.registrations };
        let mut facts = worktree::probe(scene, registration, place, depth);
        facts.created = discover::created(registration).into();
        let log = reflog::read(&registration.git_dir.join("logs/HEAD"));
        facts.own_work = log.as_ref().map(|log| history.made_a_commit(log)).map_err(ToString::to_string).into();
        history.head(registration, &mut facts);
        times.push(facts.created.clone().map(Some));
        times.push(Fact::from(log).map(|log| log.iter().map(|e| e.time).max()));
        facts
    });
    let branch = shadow.branch.as_ref().map(|branch| history.branch(branch, discovery));
    times.extend(shadow.branch.as_ref().map(|branch| history.last_entry(branch)));
    let lease = lease(repo, discovery, shadow, worktree.as_ref());
    times.push(lease.clone().map(|lease| lease.and_then(|lease| lease.newest)));
    let begun = begun(worktree.as_ref(), shadow.branch.as_ref().map(|branch| history.first_entry(branch)));
    Evidence { shadow: shadow.clone(), worktree, branch, lease, age: newest(times), begun, pending: None }
}

fn lease(
    repo: &Repository,
    discovery: &Discovery,
    shadow: &Shadow,
    worktree: Option<&WorktreeFacts>,
) -> Fact<Option<Lease>> {
    let path = shadow.worktree.as_ref().and_then(|r| r.path.as_deref());
    let checked_out = shadow.worktree.as_ref().and_then(|r| match &r.head {
        Head::Branch(name, _) => Some(name),
        Head::Detached(_) | Head::Broken(_) => None,
    });
    let branch = shadow.branch.as_ref().map(|b| &b.name).or(checked_out);
    let created = worktree.and_then(|facts| facts.created.known()).copied();
    discovery.leases.naming(repo.path(), path, branch.map(|b| b.as_bstr()), created)
}

/// The older of what tells when a shadow came to be, of those that can be read.
fn begun(worktree: Option<&WorktreeFacts>, first: Option<Fact<Option<Timestamp>>>) -> Fact<Option<Timestamp>> {
    let created = worktree.map(|facts| facts.created.clone().map(Some));
    let known = [&created, &first].into_iter().flatten().filter_map(Fact::known);
    match known.copied().reduce(|one, other| one.into_iter().chain(other).min()) {
        Some(oldest) => Fact::Known(oldest),
        None => created.or(first).unwrap_or_default(),
    }
}

/// The newest of all times; one that cannot be read leaves the age unknown.
fn newest(times: Vec<Fact<Option<Timestamp>>>) -> Fact<Age> {
    let mut newest = None;
    for time in times {
        match time {
            Fact::Known(time) => newest = newest.max(time),
            Fact::Unknown(error) => return Fact::Unknown(error),
            Fact::NotApplicable | Fact::NotAsked => {}
        }
    }
    Fact::Known(Age { newest })
}

/// Processes and mounts, one pass for all worktrees.
fn fill_in_use(host: &Host, evidence: &mut [Evidence]) {
    let mut present: Vec<(&mut WorktreeFacts, PathBuf)> = Vec::new();
    for one in evidence {
        let path = one.shadow.worktree.as_ref().and_then(|r| r.path.clone());
        if let (Some(facts), Some(path)) = (&mut one.worktree, path) {
            match facts.place {
                // Nobody can be inside what is gone.
                Fact::Known(Place::Purged(_)) => facts.in_use = Fact::NotApplicable,
                Fact::Known(_) | Fact::Unknown(_) | Fact::NotApplicable | Fact::NotAsked => {
                    match fs_err::canonicalize(&path) {
                        Ok(path) => present.push((facts, path)),
                        // What is away is held by its place; nobody can be found inside.
                        Err(_) => facts.in_use = Fact::NotApplicable,
                    }
                }
            }
        }
    }
    let paths: Vec<PathBuf> = present.iter().map(|(_, path)| path.clone()).collect();
    let inside = host.processes.clone_map(|processes| processes.inside(&paths));
    for (n, (facts, path)) in present.into_iter().enumerate() {
        let mounted = host.mounts.clone_map(|mounts| mounts.at_or_below(&path));
        facts.in_use = match (&inside, mounted) {
            (Fact::Known(inside), Fact::Known(mounted)) => {
                Fact::Known(inside[n].iter().cloned().chain(mounted.into_iter().map(Use::Mount)).collect())
            }
            (Fact::Unknown(error), _) => Fact::Unknown(error.clone()),
            (_, Fact::Unknown(error)) => Fact::Unknown(error),
            _ => Fact::NotAsked,
        };
    }
}

/// Grafts would let gix and git see another history than the objects have.
fn grafts(repo: &Repository) -> Fact<bool> {
    match fs_err::read(repo.common_dir().join("info/grafts")) {
        Ok(text) => Fact::Known(text.lines().any(|line| !line.trim().is_empty() && !line.starts_with(b"#"))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Fact::Known(false),
        Err(e) => Fact::Unknown(e.to_string()),
    }
}
