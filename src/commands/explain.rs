//! `git shadow explain`: the evidence behind a verdict.

use super::Context;
use crate::error::{Error, Exit, Result};

/// Show every fact, rule and proof behind a verdict
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Branch, short session id, registration id or path; without it the current worktree
    #[arg(value_name = "SHADOW")]
    pub shadow: Option<std::ffi::OsString>,
}

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(_args: &Args, _context: &Context<'_>) -> Result<Exit> {
    Err(Error::fatal("unsupported", "'git shadow explain' is not there yet"))
}
