//! All that depends on the operating system: clock, process and mount tables, trees by descriptor, locks.

pub mod clock;
pub mod descriptor;
pub mod detach;
pub mod file;
pub mod filesystem;
pub mod here;
pub mod interrupt;
pub mod lock;
pub mod mounts;
pub mod owner;
pub mod private;
pub mod process;
pub mod sandbox;
pub mod signal;
pub mod threads;
pub mod tree;
pub mod vantage;
