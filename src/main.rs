//! `git shadow`.

fn main() {}
