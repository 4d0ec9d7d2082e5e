//! Places where a test may kill this process or let something else happen. Release builds have none.
//!
//! `GIT_SHADOW_FAILPOINT="<name>=kill"` kills the process with SIGKILL when it gets there,
//! `"<name>=run:<shell command>"` runs the command and goes on when it has ended.

/// The names, in the order in which a release passes them.
pub const NAMES: &[&str] = &[
    "judged",       // step 1, and the lock is held
    "again",        // 1: the shadow was judged again
    "gate",         // 2
    "journal",      // 3
    "saved",        // 4: copies are on the disk, no pin yet
    "pins",         // 4
    "marker",       // 5: `locked` is written
    "renamed",      // 5: the tree has its other name
    "checked",      // 5: and was looked at again
    "unlinked",     // 6: the registration was moved, and not yet read again
    "registration", // 6
    "branch",       // 7: the transaction is through, no mark yet
    "released",     // 7: the mark is written
    "config",       // 7: the configuration was rewritten
    "deleted",      // 8: the files are gone, not yet journaled
    "done",         // 8
];

/// The names that taking a shadow back passes.
pub const UNDO_NAMES: &[&str] = &[
    "undo-branch",       // the branch is there again
    "undo-placed",       // the directory is there, with nothing but its link
    "undo-registration", // the registration is back, locked
    "undo-files",        // the files are there, not yet journaled
];

/// The names that a repair passes.
pub const REPAIR_NAMES: &[&str] = &[
    "repair-journal", // its intent is written
    "repair-applied", // it is done, no mark yet
    "repair-marked",  // the mark is written
];

/// Pass the failpoint of this name.
#[cfg(debug_assertions)]
pub fn failpoint(name: &str) {
    debug_assert!([NAMES, UNDO_NAMES, REPAIR_NAMES].concat().contains(&name), "no failpoint '{name}'");
    let Ok(wanted) = std::env::var("GIT_SHADOW_FAILPOINT") else { return };
    let Some(action) = wanted.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) else { return };
    match action.strip_prefix("run:") {
        Some(command) => crate::git::run_for_test(command),
        None => crate::git::run_for_test("kill -9 $PPID"),
    }
}

/// Pass the failpoint of this name.
#[cfg(not(debug_assertions))]
pub fn failpoint(_name: &str) {}
