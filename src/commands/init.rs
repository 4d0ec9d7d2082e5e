//! `git shadow init`: write a commented .shadowrc.

use super::Context;
use crate::error::{Error, Exit, Result};

/// Write a commented .shadowrc
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Propose patterns and roots from the worktrees and branches that are there
    #[arg(long)]
    pub detect: bool,
}

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(_args: &Args, _context: &Context<'_>) -> Result<Exit> {
    Err(Error::fatal("unsupported", "'git shadow init' is not there yet"))
}
