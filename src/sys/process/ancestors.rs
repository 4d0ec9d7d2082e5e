//! Who started this process, and whom a process started.

use crate::error::{Error, Result};

/// A process above this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// Its id.
    pub pid: i64,
    /// Its name, cut by the kernel to 15 bytes.
    pub name: String,
}

/// The processes above this one, the nearest first, without the first process of the system.
///
/// # Errors
/// When this system has no process table that can be read.
#[cfg(target_os = "linux")]
pub fn ancestors() -> Result<Vec<Ancestor>> {
    let mut found = Vec::new();
    let (_, mut pid) = of("self")?;
    while pid > 1 {
        // One that ended meanwhile left its children to another; the line ends here.
        let Ok((name, parent)) = of(&pid.to_string()) else { break };
        found.push(Ancestor { pid, name });
        pid = parent;
    }
    Ok(found)
}

/// The processes above this one: this system's table cannot be read yet.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn ancestors() -> Result<Vec<Ancestor>> {
    Err(Error::fatal("no-process", "the process table of this system cannot be read").hint("name one with --pid"))
}

/// The processes below one, those furthest down last; none where the table cannot be read.
#[cfg(target_os = "linux")]
pub fn descendants(process: u32) -> Vec<u32> {
    let names =
        fs_err::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.parse::<u32>().ok());
    let all: Vec<(u32, i64)> = numbers.filter_map(|pid| Some((pid, of(&pid.to_string()).ok()?.1))).collect();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(above) = found.get(next).copied() {
        let below = all.iter().filter(|(_, parent)| *parent == i64::from(above)).map(|(pid, _)| *pid);
        let fresh: Vec<u32> = below.filter(|pid| !found.contains(pid)).collect();
        found.extend(fresh);
        next += 1;
    }
    found.split_off(1)
}

/// The processes below one: this system's table cannot be read yet.
#[cfg(not(target_os = "linux"))]
pub fn descendants(_process: u32) -> Vec<u32> {
    Vec::new()
}

/// Name and parent.
#[cfg(target_os = "linux")]
fn of(process: &str) -> Result<(String, i64)> {
    let stat = fs_err::read(format!("/proc/{process}/stat"))?;
    parse(&stat).ok_or_else(|| Error::failed("no-process", format!("'/proc/{process}/stat' is in an unknown form")))
}

/// `pid (name) state ppid …`; the name may hold blanks and parentheses.
#[cfg(target_os = "linux")]
fn parse(stat: &[u8]) -> Option<(String, i64)> {
    let text = String::from_utf8_lossy(stat);
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    Some((name.to_owned(), rest.split_ascii_whitespace().nth(1)?.parse().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(parse(b"7 (a) b) (c) S 42 7"), Some(("a) b) (c".into(), 42)));
        assert_eq!(parse(b"7 (a"), None);
    }

    #[test]
    fn the_line_goes_up() {
        let above = ancestors().unwrap_or_default();
        assert!(above.windows(2).all(|pair| pair[0].pid != pair[1].pid));
    }
}
