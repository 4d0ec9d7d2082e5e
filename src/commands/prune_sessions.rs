//! `git shadow prune-sessions`: release all that may go.

use super::Context;
use crate::error::{Error, Exit, Result};

/// Release every shadow whose work is provably safe
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Release without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Only say what would be done
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Fetch the bases first
    #[arg(long)]
    pub fetch: bool,
}

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(_args: &Args, _context: &Context<'_>) -> Result<Exit> {
    Err(Error::fatal("unsupported", "'git shadow prune-sessions' is not there yet"))
}
