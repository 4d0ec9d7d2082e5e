//! git-shadow releases agents' worktrees and branches whose work is provably safe, and can take it back.
//!
//! `cli → policy → discover → inspect → judge → plan → execute → journal → report`

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("git-shadow runs on Linux and macOS; how to see processes and mounts on this system it does not know");

pub mod cli;
pub mod commands;
pub mod discover;
pub mod doctor;
pub mod error;
pub mod execute;
pub mod git;
pub mod hooks;
pub mod inspect;
pub mod journal;
pub mod judge;
pub mod landing;
pub mod lease;
pub mod model;
pub mod plan;
pub mod policy;
pub mod report;
pub mod schedule;
pub mod seal;
pub mod sys;
pub mod ui;
