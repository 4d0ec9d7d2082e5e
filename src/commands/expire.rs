//! `git shadow expire`: drop what is past its time.

use super::Context;
use crate::error::{Error, Exit, Result};

/// Drop what is past its time; only this cannot be undone
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only say what would be dropped
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(_args: &Args, _context: &Context<'_>) -> Result<Exit> {
    Err(Error::fatal("unsupported", "'git shadow expire' is not there yet"))
}
