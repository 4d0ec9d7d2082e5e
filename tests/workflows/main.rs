//! Named histories in real repositories, made by real git in a hermetic environment.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, unreachable_pub, missing_docs)]
#![allow(dead_code)]

mod architecture;
mod bases;
mod checker;
mod checker_works;
mod cli;
mod execute;
mod expire;
mod fetch;
mod files;
mod harness;
mod histories;
mod image;
mod landing;
mod landing_fleet;
mod landing_random;
mod lease;
mod other_user;
mod output;
mod policy;
mod probes;
mod process;
mod status_cases;
mod tree;
mod undo;
