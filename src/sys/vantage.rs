//! Where this process looks from: a container or a mount namespace of its own does not see the host's paths, and
//! process ids mean something in their own namespace, host and boot only.
//!
//! Told by namespaces alone, never by marker files, control groups or the environment.

use crate::model::Timestamp;

/// The initial pid namespace of every Linux kernel.
#[cfg(target_os = "linux")]
const INITIAL_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Clock ticks in a second, as `/proc` counts them on every architecture there is today.
#[cfg(target_os = "linux")]
const TICKS: i64 = 100;

/// Why paths that seem gone may only be out of sight; `None` on the host.
#[cfg(target_os = "linux")]
pub fn confined() -> Option<String> {
    if let Some(why) = other_pid_namespace() {
        return Some(why);
    }
    // Mounts come and go between the two readings, so a difference is looked at once more.
    let differs = || -> std::io::Result<bool> { Ok(mount_ids("self")? != mount_ids("1")?) };
    match differs().and_then(|first| if first { differs() } else { Ok(false) }) {
        Ok(false) => None,
        Ok(true) => Some("this process is in a mount namespace of its own".into()),
        Err(error) => Some(format!("the mount namespace cannot be told: {error}")),
    }
}

/// Why paths that seem gone may only be out of sight: other systems have no namespaces.
#[cfg(not(target_os = "linux"))]
pub fn confined() -> Option<String> {
    None
}

#[cfg(target_os = "linux")]
fn mount_ids(process: &str) -> std::io::Result<Vec<String>> {
    let table = fs_err::read(format!("/proc/{process}/mountinfo"))?;
    let table = String::from_utf8_lossy(&table).into_owned();
    Ok(table.lines().filter_map(|line| line.split(' ').next()).map(ToOwned::to_owned).collect())
}

/// Why the process ids seen here are not the host's; `None` when they are.
pub fn other_pid_namespace() -> Option<String> {
    #[cfg(target_os = "linux")]
    match pid_namespace() {
        Some(name) if name == INITIAL_PID_NAMESPACE => None,
        Some(_) => Some("this process is in a pid namespace of its own".into()),
        None => Some("the pid namespace cannot be told".into()),
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// The name of this process's pid namespace, where there are any.
pub fn pid_namespace() -> Option<String> {
    #[cfg(target_os = "linux")]
    return fs_err::read_link("/proc/self/ns/pid").ok().map(|link| link.to_string_lossy().into_owned());
    #[cfg(not(target_os = "linux"))]
    None
}

/// The id of this boot, where there is one.
pub fn boot_id() -> Option<String> {
    #[cfg(target_os = "linux")]
    return fs_err::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned());
    #[cfg(not(target_os = "linux"))]
    None
}

/// What tells this machine from others: its id where it has one, and its name.
pub fn machine() -> String {
    #[cfg(target_os = "linux")]
    if let Ok(id) = fs_err::read_to_string("/etc/machine-id") {
        return format!("{} {}", hostname(), id.trim());
    }
    hostname()
}

/// The name of this host.
pub fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A temporary folder of this user alone, where the system's convention has one beside `$TMPDIR`.
pub fn private_temporary() -> Option<std::path::PathBuf> {
    #[cfg(target_os = "macos")]
    return Some(format!("/private/tmp/u{}", rustix::process::getuid().as_raw()).into());
    #[cfg(not(target_os = "macos"))]
    None
}

/// When this machine booted, by the clock as it is set now.
pub fn booted_at() -> Option<Timestamp> {
    #[cfg(target_os = "linux")]
    {
        let stat = fs_err::read_to_string("/proc/stat").ok()?;
        let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
        Timestamp::from_second(line.trim().parse().ok()?).ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// When a process started, in ticks since boot: an absolute start, whatever happens to the clock.
pub fn start_ticks(pid: i64) -> Option<u64> {
    #[cfg(target_os = "linux")]
    return ticks_of(&fs_err::read(format!("/proc/{pid}/stat")).ok()?);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// Field 22 of a `stat` line; the name before it may hold blanks and parentheses.
#[cfg(target_os = "linux")]
fn ticks_of(stat: &[u8]) -> Option<u64> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let fields = std::str::from_utf8(stat.get(after_name..)?).ok()?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// When a process started by the clock as it is set now, in seconds; good to two seconds, see [`clock_steps`].
pub fn started_at(pid: i64) -> Option<i64> {
    #[cfg(target_os = "linux")]
    return Some(booted_at()?.as_second() + i64::try_from(start_ticks(pid)?).ok()? / TICKS);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// How far the clock has been set forward (or back, negative) since boot, in seconds. A virtual machine that was paused,
/// or a laptop without a clock chip, moves the time of boot, and with it that of every process, as it is computed now.
/// The witness is the oldest inode that this boot made: `/dev/null`, which nothing touches.
pub fn clock_steps() -> Option<i64> {
    #[cfg(target_os = "linux")]
    {
        let made = super::tree::stat(std::path::Path::new("/dev/null")).ok()??;
        Some(booted_at()?.as_second() - i64::try_from(made.mtime / 1_000_000_000).ok()?)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let line = b"7 (a) b) (c) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 100 1";
        assert_eq!(ticks_of(line), Some(4242));
        assert_eq!(ticks_of(b"7 (a"), None);
        assert_eq!(ticks_of(b"7 (a) S 1"), None);
    }

    #[test]
    fn this_process_started_since_boot() {
        let (Some(started), Some(booted)) = (started_at(i64::from(std::process::id())), booted_at()) else {
            return;
        };
        assert!(started >= booted.as_second() && started <= crate::sys::clock::now().as_second() + 2);
    }
}
