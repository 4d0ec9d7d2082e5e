//! What the sandboxes that agents run in bear.

/// From about so many registered worktrees on, sandboxes that are told of every one of them on their command line fail to
/// start (E2BIG): reported from about 50 on macOS and from about 250 on Linux.
pub const REGISTRATIONS: usize = if cfg!(target_os = "macos") { 50 } else { 250 };
