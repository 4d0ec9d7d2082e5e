//! Ending processes that this program has started.

use super::process::descendants;

/// Ask a child and all that it has started to end, so that they can remove their lock files first: git does not ask those
/// that it waits for (ssh, a remote helper).
pub fn terminate_tree(child: u32) {
    for pid in descendants(child).into_iter().chain([child]) {
        #[cfg(unix)]
        if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
            // It may have ended by itself; then there is nothing to ask.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
    }
}
