//! `git shadow undo`: take back what a run released.

use super::Context;
use crate::error::{Error, Exit, Result};

/// Take back an operation, or what became of one shadow
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The operation or the shadow; without it the newest operation
    #[arg(value_name = "OPERATION|SHADOW")]
    pub what: Option<std::ffi::OsString>,
}

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(_args: &Args, _context: &Context<'_>) -> Result<Exit> {
    Err(Error::fatal("unsupported", "'git shadow undo' is not there yet"))
}
