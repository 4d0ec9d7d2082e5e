//! `git shadow lease`: put this worktree under a lease.

use std::ffi::OsStr;

use gix::bstr::ByteSlice as _;

use super::{Context, select, sweep};
use crate::discover::{created, discover};
use crate::error::{Error, Exit, Result, chain};
use crate::git::Repository;
use crate::lease::Leases;
use crate::lease::own::{self, FORMAT, Holder, OwnLease};
use crate::model::{Head, Registration, bytes};
use crate::policy;
use crate::report::Format;
use crate::sys::process::{Ancestor, ancestors};
use crate::sys::{self, clock, owner};
use crate::ui::{safe, safe_lossy, safe_path};

/// Between a session and this command stand shells and helpers, never the session itself.
const BETWEEN: &[&str] =
    &["git", "git-shadow", "env", "timeout", "sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "ash"];

/// Put the worktree it runs in under a lease: it is kept while the process runs
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The process that owns the worktree, instead of the one that runs this command
    #[arg(long, value_name = "PID")]
    pub pid: Option<i64>,
    /// What runs the session, for people
    #[arg(long, value_name = "NAME")]
    pub harness: Option<String>,
}

/// Run it.
///
/// # Errors
/// When no process can be told (129), the place is no linked worktree, or another holder may still be at work (1).
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let repo = context.repository()?;
    let registration = registration(&repo, context, None)?;
    let (pid, shown) = match args.pid {
        Some(pid) => (pid, pid.to_string()),
        None => {
            let process = nearest(ancestors()?)?;
            (process.pid, format!("{} ({})", process.pid, safe_lossy(&process.name)))
        }
    };
    let holder = Holder::running(pid)?;
    let shadow_dir = repo.shadow_dir();
    let _lock = lock(&repo)?;
    if let Some(held) = current(&repo, &registration)?
        && held.holder != holder
        && let Some(why) = held.holder.may_live(&own::path_of(&shadow_dir, registration.id.as_bstr()))
    {
        return Err(Error::no("leased", format!("'{}' is under a lease: {why}", safe(&registration.id)))
            .hint("the session that holds it must end first"));
    }
    let lease = new(&registration, holder, args.harness.clone())?;
    own::write(&shadow_dir, &lease)?;
    tell(context, &lease, &format!("leased '{}' to process {shown}", safe(&registration.id)))
}

/// The registration of the shadow that is named, else of the worktree the command runs in.
///
/// # Errors
/// When there is none.
pub(super) fn registration(repo: &Repository, context: &Context<'_>, word: Option<&OsStr>) -> Result<Registration> {
    let policy = match policy::load(repo) {
        // A lease only protects.
        Err(error) if error.code == policy::NO_CHECKOUT => policy::load_user(),
        policy => policy,
    }?;
    let found = discover(repo, &repo.local(), &policy, &Leases::read())?;
    let shadow = match word {
        Some(word) => Some(select::select(word, &found.shadows, &found.leases, &context.dir)?),
        None => select::current(&found.shadows, &context.dir),
    };
    let registration = shadow.and_then(|shadow| shadow.worktree.clone());
    registration.ok_or_else(|| match word {
        Some(word) => Error::fatal("no-worktree", format!("'{}' has no worktree", safe(word.as_encoded_bytes()))),
        None => Error::fatal("no-worktree", format!("'{}' is in no linked worktree", safe_path(&context.dir)))
            .hint("run it in the session's worktree"),
    })
}

/// Between reading a lease and writing it nobody else may.
///
/// # Errors
/// When another command is at it for too long.
pub(super) fn lock(repo: &Repository) -> Result<sys::lock::Lock> {
    sys::lock::exclusive(&repo.shadow_dir().join("leases.lock"), sweep::PATIENCE)
}

/// The lease of this very worktree; one that an earlier worktree left under the same id is none.
///
/// # Errors
/// When it cannot be read.
pub(super) fn current(repo: &Repository, registration: &Registration) -> Result<Option<OwnLease>> {
    let written = new(registration, Holder::none(), None)?;
    let made = created(registration)?;
    let lease = own::find(&repo.shadow_dir(), registration.id.as_bstr())?;
    Ok(lease.filter(|lease| lease.worktree == written.worktree && lease.acquired >= made))
}

/// A lease that begins now.
///
/// # Errors
/// When the registration names no worktree.
pub(super) fn new(registration: &Registration, holder: Holder, harness: Option<String>) -> Result<OwnLease> {
    let path = registration.path.as_ref().ok_or_else(|| {
        Error::fatal("no-worktree", format!("registration '{}' names no worktree", safe(&registration.id)))
    })?;
    let path = fs_err::canonicalize(path).unwrap_or_else(|_| path.clone());
    let worktree = gix::path::into_bstr(path.as_path()).map_err(|e| Error::failed("lease", chain(&e)))?.into_owned();
    let branch = match &registration.head {
        Head::Branch(name, _) => Some(bytes::encode(name)),
        Head::Detached(_) | Head::Broken(_) => None,
    };
    Ok(OwnLease {
        format: FORMAT.into(),
        id: registration.id.clone(),
        harness,
        holder,
        user: owner::user(),
        worktree,
        branch,
        acquired: clock::now(),
        finished: None,
    })
}

/// Tell what was done; a program gets the lease itself.
///
/// # Errors
/// When a form is asked for that there is not.
pub(super) fn tell(context: &Context<'_>, lease: &OwnLease, text: &str) -> Result<Exit> {
    match context.options.format() {
        Format::Human => context.ui.answer(format!("{text}\n")),
        Format::Json => {
            let text = serde_json::to_string_pretty(lease).map_err(|e| Error::failed("lease", e.to_string()))?;
            context.ui.answer(format!("{text}\n"));
        }
        Format::Porcelain { .. } => {
            return Err(Error::usage(format!("'git shadow {}' has no '--porcelain'", context.command)));
        }
    }
    Ok(Exit::Done)
}

/// The nearest process above that can be a session.
fn nearest(above: Vec<Ancestor>) -> Result<Ancestor> {
    let is_between = |process: &Ancestor| BETWEEN.contains(&process.name.trim_start_matches('-'));
    above.into_iter().find(|process| !is_between(process)).ok_or_else(|| {
        Error::usage("cannot tell which process owns the worktree: only shells are above this one")
            .hint("name it with --pid")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn line(names: &[&str]) -> Vec<Ancestor> {
        let number = |(n, name): (usize, &&str)| Ancestor { pid: n as i64 + 10, name: (*name).to_owned() };
        names.iter().enumerate().map(number).collect()
    }

    #[test]
    fn shells_and_helpers_are_no_sessions() {
        assert_eq!(nearest(line(&["git", "-bash", "timeout", "claude", "bash"])).unwrap().name, "claude");
        assert_eq!(nearest(line(&["sh", "env"])).unwrap_err().exit, Exit::Usage);
        assert_eq!(nearest(Vec::new()).unwrap_err().exit, Exit::Usage);
    }
}
