//! `git shadow hook`: what the installed hooks call. Quiet, bounded, and git's result stays what it was.
//!
//! In the foreground it is only told whether there may be anything to do; the work is done by this program started anew
//! ([`worker`]), which git does not wait for.

mod worker;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::ObjectId;
use gix::bstr::BString;

use super::Context;
use crate::discover::{discover, registrations};
use crate::error::{Error, Exit, Result};
use crate::git::refs::Refs;
use crate::git::{Repository, Worker};
use crate::hooks::failure::Failure;
use crate::hooks::news::{News, Start};
use crate::hooks::off;
use crate::inspect::operation;
use crate::lease::Leases;
use crate::model::{Base, Event, bytes};
use crate::policy::{self, Policy};
use crate::sys::process::ancestors;
use crate::sys::{clock, vantage};

/// How long a merge is held up at most, to tell at once what went.
const FOREGROUND: Duration = Duration::from_millis(250);

/// Release what just landed: what the installed hooks call
///
/// Always ends with 0. Says one line when something went, else nothing.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Args {
    /// Do the work that a hook has found
    #[arg(long, hide = true)]
    pub worker: bool,
    /// The main worktree of the repository that it starts in
    #[arg(long, hide = true, value_name = "DIR")]
    pub checkout: Option<PathBuf>,
    /// The git whose end is to be waited for: its id and its start
    #[arg(long, hide = true, value_name = "PID:TICKS", value_parser = pushing)]
    pub git: Option<(i64, u64)>,
    /// Where a base was when the hook began
    #[arg(long, hide = true, value_name = "REF=OID", value_parser = was)]
    pub since: Vec<(BString, ObjectId)>,
    /// post-merge or pre-push, and what git gave it
    #[arg(value_name = "HOOK", allow_hyphen_values = true, trailing_var_arg = true)]
    pub hook: Vec<OsString>,
}

fn pushing(text: &str) -> Result<(i64, u64), String> {
    let parts = text.split_once(':').and_then(|(pid, ticks)| Some((pid.parse().ok()?, ticks.parse().ok()?)));
    parts.ok_or_else(|| "not a process".to_owned())
}

fn was(text: &str) -> Result<(BString, ObjectId), String> {
    let (name, id) = text.rsplit_once('=').ok_or("not a ref and its value")?;
    let name = bytes::decode(name).ok_or("not a ref")?;
    Ok((name, ObjectId::from_hex(id.as_bytes()).map_err(|error| error.to_string())?))
}

/// As `git shadow log` shows it.
fn command(event: Event) -> &'static str {
    match event {
        Event::PostMerge => "hook post-merge",
        Event::PrePush => "hook pre-push",
    }
}

/// Run it. It never fails: what goes wrong is written down for `git shadow hooks status`.
///
/// # Errors
/// When there is no such hook.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let Some((name, given)) = args.hook.split_first() else { return Ok(Exit::Done) };
    let event = Event::ALL.into_iter().find(|event| name == event.as_str()).ok_or_else(|| {
        Error::usage(format!("'{}' is not a hook", name.display())).hint("the hooks are post-merge and pre-push")
    })?;
    if args.worker {
        worker::run(event, args, context);
        return Ok(Exit::Done);
    }
    // A squash has committed nothing yet.
    let is_squash = event == Event::PostMerge && given.first().is_some_and(|flag| flag == "1");
    if is_squash || off::by_environment() {
        return Ok(Exit::Done);
    }
    // Git runs hooks of repositories only; one that cannot be opened has no place to write that down.
    let Ok(repo) = Repository::discover(&context.dir) else { return Ok(Exit::Done) };
    if let Err(error) = look(event, &repo, context) {
        Failure::note(&repo, event.as_str(), clock::now(), Some(&error));
    }
    Ok(Exit::Done)
}

/// See whether there is anything to do, and start somebody to do it.
fn look(event: Event, repo: &Repository, context: &Context<'_>) -> Result<()> {
    let policy = policy::load(repo)?;
    if !off::is_on(repo, &policy, event) {
        return Ok(());
    }
    let start = match event {
        Event::PostMerge => Start::BeforeItsLastMove,
        Event::PrePush => Start::Given(BTreeMap::new()),
    };
    let news = News::read(repo, &policy, &start)?;
    let mut args: Vec<OsString> = ["hook", "--worker", "--checkout"].map(OsString::from).into();
    args.push(repo.path().into());
    match event {
        Event::PostMerge => {
            if news.is_none() || is_no_place(event, repo, &policy, &context.dir)? {
                return Ok(());
            }
            args.push(event.as_str().into());
            if let Some(said) = Worker::start(repo.common_dir(), args)?.within(FOREGROUND) {
                context.ui.raw(said);
            }
        }
        Event::PrePush => {
            let Some((pid, ticks)) = pushing_git() else { return Ok(()) };
            if is_no_place(event, repo, &policy, &context.dir)? {
                return Ok(());
            }
            args.extend(["--git".into(), format!("{pid}:{ticks}").into()]);
            let since =
                |Base { name, tip, .. }: &Base| ["--since".into(), format!("{}={tip}", bytes::encode(name)).into()];
            args.extend(news.bases.iter().flat_map(since));
            args.push(event.as_str().into());
            Worker::start(repo.common_dir(), args)?;
        }
    }
    Ok(())
}

/// The first git above this process, which started the hook. Where the processes above cannot be read, or somebody runs
/// the hook by hand, there is none, and nobody knows when the push ends.
fn pushing_git() -> Option<(i64, u64)> {
    let git = ancestors().ok()?.into_iter().find(|process| process.name == "git")?;
    Some((git.pid, vantage::start_ticks(git.pid)?))
}

/// An operation is in progress here, or what was merged was merged into a session's own work.
fn is_no_place(event: Event, repo: &Repository, policy: &Policy, dir: &Path) -> Result<bool> {
    // Git removes what a merge leaves only after the hook.
    let own: &[&str] = match event {
        Event::PostMerge => &["MERGE_HEAD", "MERGE_AUTOSTASH"],
        Event::PrePush => &[],
    };
    let gix = repo.local();
    let is_here = |path: &Path| fs_err::canonicalize(path).is_ok_and(|path| dir.starts_with(path));
    let around =
        registrations(repo, &Refs::read(&gix)?)?.into_iter().filter(|r| r.path.as_deref().is_some_and(is_here));
    // One worktree may be inside another.
    let Some(here) = around.max_by_key(|r| r.path.as_deref().map(|path| path.components().count())) else {
        return operation::is_busy(repo.common_dir(), own);
    };
    let in_a_shadow = || -> Result<bool> {
        let shadows = discover(repo, &gix, policy, &Leases::read())?.shadows;
        Ok(shadows.iter().any(|shadow| !shadow.foreign && shadow.worktree.as_ref() == Some(&here)))
    };
    Ok((event == Event::PostMerge && in_a_shadow()?) || operation::is_busy(&here.git_dir, own)?)
}
