//! Named histories in real repositories, made by real git in a hermetic environment.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, unreachable_pub, missing_docs)]
#![allow(dead_code)]

mod architecture;
mod bad_input;
mod bases;
mod busy;
mod cases_landed;
mod cases_overlooked;
mod cases_place;
mod cases_processes;
mod cases_registration;
mod cases_remote;
mod cases_runs;
mod cases_unused;
mod cases_worktree;
mod checker;
mod checker_works;
mod cli;
mod crashes;
mod demo;
mod execute;
mod expire;
mod fetch;
mod files;
mod fleet;
mod format;
mod full_disk;
mod harness;
mod histories;
mod image;
mod interference;
mod landing;
mod landing_fleet;
mod landing_random;
mod lease;
mod other_user;
mod output;
mod policy;
mod probes;
mod process;
mod readme;
mod sessions;
mod status_cases;
mod tree;
mod undo;
mod undo_workflows;
