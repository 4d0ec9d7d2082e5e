//! Whether a process that a file names is provably gone.
//!
//! Dead means: on the host, boot and pid namespace it was written in, the pid is gone or has another start. A file of
//! another program names none of these, so it counts only where it can have been written nowhere else: on local file
//! systems, seen from the initial pid namespace. Everything else may be alive.

use std::path::Path;

use super::start;
use crate::sys::{filesystem, process, vantage};

/// Why the process may still be at work; `None` when it is provably gone. `places` must be local for that: the file that
/// names it, and what it works on.
pub fn may_live(pid: i64, started: Option<&str>, places: &[&Path]) -> Option<String> {
    if !process::is_gone(pid) {
        let another = started.zip(vantage::started_at(pid)).zip(vantage::clock_steps());
        if !another.is_some_and(|((written, started), steps)| start::is_another(written, started, steps)) {
            return Some(format!("process {pid} runs"));
        }
    }
    if let Some(why) = vantage::other_pid_namespace() {
        return Some(format!("process {pid} cannot be looked for: {why}"));
    }
    places.iter().find_map(|place| match filesystem::is_local(place) {
        Ok(true) => None,
        Ok(false) => {
            Some(format!("process {pid} may run on another machine: '{}' is on a shared file system", place.display()))
        }
        Err(error) => Some(format!("process {pid} cannot be looked for: {error}")),
    })
}
