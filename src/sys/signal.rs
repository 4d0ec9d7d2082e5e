//! Ending a process that this program has started.

use std::process::Child;

/// Ask a child to end, so that it can remove its lock files first.
pub fn terminate(child: &mut Child) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended by itself; then there is nothing to ask.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        return;
    }
    let _ = child.kill();
}
