//! Reading `/proc`: only links, the mount tables of other namespaces, and the lines of `maps` that name a file.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use gix::bstr::ByteSlice as _;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, PROC_SUPER_MAGIC, openat, readlinkat, statat};
use rustix::io::Errno;

use super::{Process, Processes};
use crate::sys::mounts::{Mounts, unescaped};
use crate::sys::vantage;

type Result<T, E = String> = std::result::Result<T, E>;

/// What a process let us see of one thing.
enum Seen<T> {
    It(T),
    /// The process ended, or has no such thing (a kernel thread).
    Nothing,
    Refused,
}

/// The whole table; the error says why it cannot be trusted.
pub(super) fn read() -> Result<Processes> {
    let proc = openat(CWD, "/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|e| format!("no process table: {e}"))?;
    let kind = rustix::fs::fstatfs(&proc).map_err(|e| format!("no process table: {e}"))?;
    if kind.f_type != PROC_SUPER_MAGIC {
        return Err("no process table: /proc is something else".into());
    }
    if let Some(why) = vantage::other_pid_namespace() {
        return Err(why);
    }
    let mut reader = Reader::default();
    let own_table = bytes(&proc, c"self/mountinfo").map_err(|e| format!("cannot read the mount table: {e}"))?;
    let user = rustix::process::geteuid();
    if !user.is_root() && is_hiding(&own_table) {
        return Err("the processes of others are hidden (hidepid)".into());
    }
    reader.view(&own_table, || Ok(own_table.clone())).map_err(|e| e.to_string())?;
    let program = readlinkat(&proc, c"self/exe", Vec::new()).ok();
    reader.program = program.map(|path| reader.path(path.into_bytes()));
    let me = std::process::id().to_string();
    let (mut init, mut own, mut own_read) = (false, 0, 0);
    for entry in Dir::read_from(&proc).map_err(|e| format!("cannot read the process table: {e}"))? {
        let entry = entry.map_err(|e| format!("cannot read the process table: {e}"))?;
        let pid = entry.file_name();
        let digits = pid.to_bytes();
        init |= digits == b"1";
        if !digits.iter().all(u8::is_ascii_digit) || digits == me.as_bytes() {
            continue;
        }
        let failed = |e: Errno| format!("cannot read process {}: {e}", pid.to_string_lossy());
        let Seen::It(process) = see(open(&proc, pid)).map_err(failed)? else { continue };
        let Seen::It(owner) = see(statat(&process, c"", AtFlags::EMPTY_PATH)).map_err(failed)? else { continue };
        let mut readable = reader.process(pid, &process).map_err(failed)?;
        if matches!(readable, Seen::Nothing) {
            readable = reader.threads(pid, &process).map_err(failed)?;
        }
        if owner.st_uid == user.as_raw() {
            own += usize::from(!matches!(readable, Seen::Nothing));
            own_read += usize::from(matches!(readable, Seen::It(())));
        }
    }
    if !init {
        return Err("the processes of others are hidden: the first one is not in the table".into());
    }
    if own > 0 && own_read == 0 {
        return Err("no process of this user can be inspected".into());
    }
    Ok(reader.processes)
}

/// Whether `/proc` is mounted so that it shows everyone only their own processes.
fn is_hiding(table: &[u8]) -> bool {
    let proc = |line: &&[u8]| line.split(|b| *b == b' ').nth(4) == Some(b"/proc");
    let options = |line: &[u8]| line.rsplit(|b| *b == b' ').next().unwrap_or_default().to_owned();
    let shown = [&b"hidepid=0"[..], b"hidepid=off"];
    table.lines().filter(proc).map(options).any(|options| {
        options.split(|b| *b == b',').any(|option| option.starts_with(b"hidepid=") && !shown.contains(&option))
    })
}

#[derive(Default)]
struct Reader {
    processes: Processes,
    /// Views by the id of their first mount: two mount namespaces share none.
    views: HashMap<Vec<u8>, usize>,
    paths: HashMap<PathBuf, usize>,
    /// What this process runs, by its number among the paths.
    program: Option<usize>,
}

impl Reader {
    fn process(&mut self, pid: &CStr, process: &OwnedFd) -> rustix::io::Result<Seen<()>> {
        let view = match see(first(process, c"mountinfo"))? {
            Seen::It(head) => self.view(&head, || bytes(process, c"mountinfo"))?,
            Seen::Nothing => return Ok(Seen::Nothing),
            Seen::Refused => 0,
        };
        let mut uses = Vec::new();
        let mut readable = Seen::Nothing;
        for (what, link) in [("working directory", c"cwd"), ("root", c"root"), ("executable", c"exe")] {
            match see(name_of(process, link))? {
                Seen::It(path) => {
                    readable = Seen::It(());
                    uses.push((what, self.path(path.into_bytes())));
                }
                Seen::Nothing => {}
                Seen::Refused => readable = Seen::Refused,
            }
        }
        // This program, at work elsewhere: what it has open it only reads, or it has the repository's lock. So has a child
        // that it is just starting.
        let ours = uses.iter().any(|(what, path)| *what == "executable" && Some(*path) == self.program);
        if matches!(readable, Seen::It(())) && !ours {
            self.files(process, &mut uses)?;
            self.mappings(process, &mut uses)?;
        }
        // One that may not be inspected can still have been given a worktree by its mounts.
        if !uses.is_empty() || view > 0 {
            let name = bytes(process, c"comm").unwrap_or_default().trim_end().to_str_lossy().into_owned();
            let pid = pid.to_str().ok().and_then(|pid| pid.parse().ok()).unwrap_or_default();
            self.processes.processes.push(Process { pid, name, view, uses });
        }
        Ok(readable)
    }

    /// The first thread of a process may have ended while others work on.
    fn threads(&mut self, pid: &CStr, process: &OwnedFd) -> rustix::io::Result<Seen<()>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Seen::It(threads) = see(openat(process, c"task", flags, Mode::empty()))? else { return Ok(Seen::Nothing) };
        let Seen::It(listed) = see(Dir::read_from(&threads))? else { return Ok(Seen::Nothing) };
        for entry in listed {
            let Seen::It(entry) = see(entry)? else { break };
            let thread = entry.file_name();
            if thread.to_bytes().starts_with(b".") || thread == pid {
                continue;
            }
            if let Seen::It(thread) = see(open(&threads, thread))?
                && let seen @ (Seen::It(()) | Seen::Refused) = self.process(pid, &thread)?
            {
                return Ok(seen);
            }
        }
        Ok(Seen::Nothing)
    }

    fn files(&mut self, process: &OwnedFd, uses: &mut Vec<(&'static str, usize)>) -> rustix::io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Seen::It(files) = see(openat(process, c"fd", flags, Mode::empty()))? else { return Ok(()) };
        let Seen::It(listed) = see(Dir::read_from(&files))? else { return Ok(()) };
        for entry in listed {
            // The process may end while its files are listed.
            let Seen::It(entry) = see(entry)? else { return Ok(()) };
            if entry.file_name().to_bytes().starts_with(b".") {
                continue;
            }
            if let Seen::It(path) = see(name_of(&files, entry.file_name()))? {
                self.used(uses, "open file", path.as_bytes());
            }
        }
        Ok(())
    }

    fn mappings(&mut self, process: &OwnedFd, uses: &mut Vec<(&'static str, usize)>) -> rustix::io::Result<()> {
        let Seen::It(maps) = see(bytes(process, c"maps"))? else { return Ok(()) };
        let mut last: &[u8] = b"";
        for line in maps.lines() {
            let Some(path) = line.find_byte(b'/').map(|at| &line[at..]) else { continue };
            if path != last {
                self.used(uses, "mapping", unescaped(path).as_os_str().as_encoded_bytes());
                last = path;
            }
        }
        Ok(())
    }

    fn used(&mut self, uses: &mut Vec<(&'static str, usize)>, what: &'static str, path: &[u8]) {
        if path.starts_with(b"/") {
            uses.push((what, self.path(path.to_owned())));
        }
    }

    fn path(&mut self, path: Vec<u8>) -> usize {
        let path = PathBuf::from(std::ffi::OsString::from_vec(path));
        let paths = &mut self.processes.paths;
        *self.paths.entry(path).or_insert_with_key(|path| {
            paths.push(path.clone());
            paths.len() - 1
        })
    }

    /// The number of the view whose table starts like this.
    fn view(&mut self, head: &[u8], table: impl FnOnce() -> rustix::io::Result<Vec<u8>>) -> rustix::io::Result<usize> {
        let id = head.split(|b| *b == b' ').next().unwrap_or_default();
        if let Some(view) = self.views.get(id) {
            return Ok(*view);
        }
        // Of a process that ended, nothing is in use.
        let Seen::It(table) = see(table())? else { return Ok(0) };
        let views = &mut self.processes.views;
        views.push(Mounts::parse(&table));
        self.views.insert(id.to_owned(), views.len() - 1);
        Ok(views.len() - 1)
    }
}

/// Sort out what a process may always answer; any other error fails the whole probe.
fn see<T>(result: rustix::io::Result<T>) -> rustix::io::Result<Seen<T>> {
    match result {
        Ok(it) => Ok(Seen::It(it)),
        // The mount table of one that has ended and waits for its parent is "invalid".
        Err(Errno::NOENT | Errno::SRCH | Errno::NOTDIR | Errno::INVAL) => Ok(Seen::Nothing),
        Err(Errno::ACCESS | Errno::PERM) => Ok(Seen::Refused),
        Err(error) => Err(error),
    }
}

/// The directory of a process, which stays that of this one if its id is used again.
fn open(proc: impl AsFd, pid: &CStr) -> rustix::io::Result<OwnedFd> {
    openat(proc, pid, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// What a link of `/proc` points at. The kernel gives no name that is longer than a path may be; a directory that is
/// that deep goes by the name of the nearest one above it that has one, which is inside of all that it is inside of.
fn name_of(dir: impl AsFd, link: &CStr) -> rustix::io::Result<CString> {
    let long = match readlinkat(&dir, link, Vec::new()) {
        Err(Errno::NAMETOOLONG) => Errno::NAMETOOLONG,
        name => return name,
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = match openat(dir, link, flags, Mode::empty()) {
        Err(Errno::NOTDIR) => return Err(long),
        directory => directory?,
    };
    loop {
        directory = openat(&directory, c"..", flags, Mode::empty())?;
        match readlinkat(CWD, format!("/proc/self/fd/{}", directory.as_raw_fd()), Vec::new()) {
            Err(Errno::NAMETOOLONG) => {}
            name => return name,
        }
    }
}

fn bytes(dir: impl AsFd, name: &CStr) -> rustix::io::Result<Vec<u8>> {
    let file = openat(dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = Vec::with_capacity(4096);
    while rustix::io::read(&file, rustix::buffer::spare_capacity(&mut text))? > 0 {
        text.reserve(4096);
    }
    Ok(text)
}

/// The beginning: enough for the first field.
fn first(dir: impl AsFd, name: &CStr) -> rustix::io::Result<Vec<u8>> {
    let file = openat(dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = Vec::with_capacity(32);
    rustix::io::read(&file, rustix::buffer::spare_capacity(&mut text))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hiding_table_is_told_by_its_options() {
        let table =
            |options: &str| format!("22 27 0:21 / /proc rw,relatime shared:5 - proc proc {options}\n").into_bytes();
        for hiding in ["rw,hidepid=2", "rw,hidepid=invisible", "rw,gid=5,hidepid=ptraceable"] {
            assert!(is_hiding(&table(hiding)), "{hiding}");
        }
        for shown in ["rw", "rw,hidepid=0", "rw,hidepid=off"] {
            assert!(!is_hiding(&table(shown)), "{shown}");
        }
        assert!(!is_hiding(b"22 27 0:21 / /else rw - proc proc rw,hidepid=2\n"));
    }
}
