//! Hooks: what just landed goes by itself.

pub mod failure;
pub mod news;
