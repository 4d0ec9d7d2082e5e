//! `git shadow finish`: the session says that it is done.

use std::ffi::OsString;

use gix::bstr::ByteSlice as _;

use super::Context;
use super::lease::{current, lock, new, registration, tell};
use crate::error::{Exit, Result};
use crate::lease::own::{self, Holder};
use crate::sys::clock;
use crate::ui::safe;

/// Say that a session is done: its shadow waits for no grace
///
/// A running process is never torn down: while the session's process runs, its shadow stays, and goes with the next sweep
/// after it ended. What holds for another reason stays as well.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Branch, short session id, registration id or path [default: the worktree it runs in]
    #[arg(value_name = "SESSION")]
    pub session: Option<OsString>,
}

/// Run it.
///
/// # Errors
/// When there is no such worktree, or its lease cannot be read or written.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let repo = context.repository()?;
    let registration = registration(&repo, context, args.session.as_deref())?;
    let shadow_dir = repo.shadow_dir();
    let _lock = lock(&repo)?;
    let mut lease = match current(&repo, &registration)? {
        Some(lease) => lease,
        // Without a lease there is nothing to wait for.
        None => new(&registration, Holder::none(), None)?,
    };
    lease.finished.get_or_insert(clock::now());
    own::write(&shadow_dir, &lease)?;
    let path = own::path_of(&shadow_dir, registration.id.as_bstr());
    let when = match lease.holder.may_live(&path) {
        Some(why) => format!("kept while {why}"),
        None => "waits for no grace".to_owned(),
    };
    tell(context, &lease, &format!("finished '{}': {when}", safe(&registration.id)))
}
