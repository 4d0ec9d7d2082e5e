//! Where this process looks from: a container or a mount namespace of its own does not see the host's paths.

use crate::model::Timestamp;

/// Why paths that seem gone may only be out of sight; `None` on the host.
pub fn confined() -> Option<String> {
    None
}

/// When this machine booted, where that can be told.
pub fn booted_at() -> Option<Timestamp> {
    None
}
