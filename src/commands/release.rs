//! `git shadow release`: release just these, graces waived.

use super::Context;
use crate::error::{Error, Exit, Result};

/// Release just these shadows, their grace waived
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Branch, short session id, registration id or path
    #[arg(value_name = "SHADOW", required = true)]
    pub shadows: Vec<std::ffi::OsString>,
    /// Only say what would be done
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(_args: &Args, _context: &Context<'_>) -> Result<Exit> {
    Err(Error::fatal("unsupported", "'git shadow release' is not there yet"))
}
