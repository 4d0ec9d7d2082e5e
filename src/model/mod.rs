//! The nouns of the program: owned data without I/O.
//!
//! Evidence goes in (`evidence`), holds and a verdict come out (`hold`, `verdict`); `judge` is the only
//! place that turns one into the other.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod bytes;
mod disk;
mod evidence;
mod fact;
mod finding;
mod hold;
mod hook;
mod landing;
mod lease;
mod session;
mod shadow;
pub mod shell;
mod verdict;
mod words;

pub use disk::{Disk, Disks};
pub use evidence::{
    Age, BranchFacts, BranchUser, Evidence, Lock, LockKind, Pending, PendingWork, Place, RefAt, RepositoryFacts,
    Status, Undeletable, Unpushed, Use, WorktreeFacts,
};
pub use fact::Fact;
pub use finding::{Finding, Trouble};
pub use hold::{Code, Hold, On};
pub use hook::{Change, Event, Hook, HookState, Way};
pub use landing::{How, Landed, Landing};
pub use lease::{Lease, LeaseState};
pub use session::SessionRootFacts;
pub use shadow::{Base, Branch, Head, Registration, Shadow, last_part, short_name};
pub use verdict::{Because, Half, Outcome, StepKind, StepReport, Verdict};

/// An instant, always UTC.
pub type Timestamp = jiff::Timestamp;
