//! `git shadow log`: the operations and what they pin.

use super::Context;
use crate::error::{Error, Exit, Result};

/// Show the operations and what they pin
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Run it.
///
/// # Errors
/// When nothing could be done at all.
pub fn run(_args: &Args, _context: &Context<'_>) -> Result<Exit> {
    Err(Error::fatal("unsupported", "'git shadow log' is not there yet"))
}
