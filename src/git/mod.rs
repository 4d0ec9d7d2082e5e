//! The repository: opening it, asking git, refs and bases.
//!
//! gix reads; git itself is asked where it is the reference: status at the gate, merges, ref transactions.

pub mod bases;
mod command;
pub mod fetch;
mod merge;
mod quarantine;
pub mod refs;
mod repository;
mod sizes;
mod transaction;

#[cfg(debug_assertions)]
pub use command::run_for_test;
pub use command::{Git, Worker, tool};
pub use merge::{Merge, Merged, Merger};
pub use quarantine::PREFIX as QUARANTINE;
pub use repository::{Repository, SHARED_REFS};
pub use transaction::{RefEdit, create_without_reflog, read_ref, update_refs};

pub use gix::ObjectId;
