//! Where the aos harness keeps its leases and its sessions.

use std::path::PathBuf;

use crate::error::{Error, Result};

/// The folder of the foreign leases: `$AOS_NATIVE_STATE_DIR/leases`, else in the user's cache.
///
/// # Errors
/// When this user has no home.
pub(super) fn leases() -> Result<PathBuf> {
    if let Some(state) = variable("AOS_NATIVE_STATE_DIR") {
        return Ok(state.join("leases"));
    }
    let cache = etcetera::base_strategy::choose_native_strategy()
        .map(|strategy| etcetera::BaseStrategy::cache_dir(&strategy))
        .map_err(|error| Error::failed("leases", format!("cannot tell the user's cache folder: {error}")))?;
    Ok(cache.join("agentic-os/native-shadow/leases"))
}

/// The folders in which the aos harness puts its sessions, as they are, existing or not.
pub fn session_folders() -> Vec<PathBuf> {
    if let Some(folder) = variable("AOS_NATIVE_SESSIONS_DIR") {
        return vec![folder];
    }
    let temporary = std::env::temp_dir();
    let mut folders =
        vec![temporary.join("aos/native"), temporary.join("aos-native"), PathBuf::from("/tmp/aos/native")];
    folders.extend(crate::sys::vantage::private_temporary().map(|folder| folder.join("aos/native")));
    folders.dedup();
    let unique = folders.iter().enumerate().filter(|(n, folder)| !folders[..*n].contains(folder));
    unique.map(|(_, folder)| folder.clone()).collect()
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
