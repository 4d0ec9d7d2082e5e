//! Hooks: what just landed goes by itself. The scripts, where git looks for them and installing them beside what is
//! there; what is new when one runs.

mod configured;
pub mod failure;
pub mod install;
mod managers;
pub mod news;
pub mod off;
mod place;
mod script;
mod slot;

pub use script::{called, program};

use crate::error::Result;
use crate::git::Repository;
use crate::journal::Cursor;
use crate::model::Base;

/// From now on hooks look at what lands; what landed before is for a sweep of everything. Where they have begun already
/// nothing changes.
///
/// # Errors
/// When the cursor cannot be read or written.
pub fn begin(repo: &Repository, bases: &[Base]) -> Result<()> {
    Cursor::read(repo)?.begin(bases).write(repo)
}
