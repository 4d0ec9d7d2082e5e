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

pub use script::program;

use crate::error::Result;
use crate::git::{Repository, bases};
use crate::journal::Cursor;
use crate::policy;

/// From now on hooks look at what lands; what landed before is for a sweep of everything. Where they have begun already
/// nothing changes.
///
/// # Errors
/// When the policy or the cursor cannot be read, or the cursor not written.
pub fn begin(repo: &Repository) -> Result<()> {
    let bases = bases::resolve(repo, &policy::load(repo)?);
    Cursor::read(repo)?.begin(bases.known().map(Vec::as_slice).unwrap_or_default()).write(repo)
}
