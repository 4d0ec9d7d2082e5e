//! Waiting for a process that is not our child.

use std::time::Duration;

use crate::sys::vantage;

/// Wait until the process that began at `ticks` since boot has ended; whether it has within `limit`. One that has the
/// same id but another start is not it.
#[cfg(target_os = "linux")]
pub fn wait_for_end(pid: i64, ticks: u64, limit: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return true };
    let Ok(process) = pidfd_open(id, PidfdFlags::empty()) else { return vantage::start_ticks(pid) != Some(ticks) };
    // Only now: whoever has the id from here on is the one that is held open.
    if vantage::start_ticks(pid) != Some(ticks) {
        return true;
    }
    let limit = Timespec { tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX), tv_nsec: 0 };
    let mut ended = [PollFd::new(&process, PollFlags::IN)];
    loop {
        match poll(&mut ended, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            seen => return matches!(seen, Ok(1..)),
        }
    }
}

/// Wait until a process has ended: this system's processes cannot be told apart yet.
#[cfg(not(target_os = "linux"))]
pub fn wait_for_end(pid: i64, ticks: u64, _limit: Duration) -> bool {
    vantage::start_ticks(pid) != Some(ticks)
}
