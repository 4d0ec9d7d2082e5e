//! The journal: what was done, by which run, so that a killed one is finished or reversed and a finished one can be
//! taken back.
//!
//! ```text
//! <common dir>/shadow/operations/<operation>/intent.json          who, when, by which command
//!                                            settled              nothing of it is open
//!                                            <n>/intent.json      all that one item is about to do
//!                                            <n>/registration/    a copy of the registration
//!                                            <n>/moved/           the registration itself
//!                                            <n>/snapshot.json    every entry of the tree
//!                                            <n>/files/           copies of the files that policy saves
//!                                            <n>/released         past the commit point
//!                                            <n>/done, reversed, stuck, undone
//! <common dir>/shadow/seen      when a real run first saw a ref at its tip
//! <common dir>/shadow/cursor    how far hooks have looked
//! <common dir>/shadow/undone    branches that undo brought back
//! <common dir>/shadow/turns     where a sweep over what the program keeps itself goes on
//! refs/shadow/kept/<operation>/<n>/…    what must not be collected
//! ```
//!
//! Beside them are files that are no journal: locks (`lock`, `leases.lock`, `next`), `leases/`, `fetched`, `transaction/`,
//! and of the hooks `hooks/` and `hook-failed`; the modules that write them tell what they are.
//!
//! A mark is a file written whole and on the disk before the next step; its absence means that the step may not have
//! happened.

mod cursor;
pub mod files;
pub mod host;
mod intent;
mod open;
mod operation;
mod repair;
mod seen;
mod text;
mod turns;
mod undone;

pub use cursor::Cursor;
pub use intent::{BranchIntent, Exclude, INTENT, Intent, Mark, WorktreeIntent, of_path, to_path};
pub use open::{OpenIntent, is_past_the_point, open_intents};
pub use operation::{Header, Item, Journal, Marker, OPERATION, Operation, new_id, pin_prefix};
pub use repair::{ConfigChange, Repair};
pub use seen::Seen;
pub use text::NamedRef;
pub use turns::Turns;
pub use undone::Undone;
