//! The process table: one pass for all shadows.
//!
//! A process uses a directory when its working directory, root, executable, an open file or a mapping is inside: by the
//! name the kernel gives it, or by its place on the file system, which a bind mount or another mount namespace (a
//! container) calls differently. Threads that have a working directory of their own (`CLONE_FS` unset) are not
//! looked at one by one.

mod ancestors;
#[cfg(target_os = "linux")]
mod table;
mod wait;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use ancestors::{Ancestor, ancestors, descendants};
pub use wait::wait_for_end;

use super::mounts::Mounts;
use crate::model::{Fact, Use};

/// Whether no process has this id. One that may not be signalled is there; an id that this system cannot have proves
/// nothing.
pub fn is_gone(pid: i64) -> bool {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 0).and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// All processes with what each has open, as far as this user may see it.
#[derive(Debug, Default)]
pub struct Processes {
    /// What mounts processes see; the first are ours.
    views: Vec<Mounts>,
    /// Every path that is in use, once.
    paths: Vec<PathBuf>,
    processes: Vec<Process>,
}

#[derive(Debug)]
struct Process {
    pid: i64,
    name: String,
    /// Which of the views it has.
    view: usize,
    /// What it has open, the most telling first; the path by its number. Empty for one that may not be inspected.
    uses: Vec<(&'static str, usize)>,
}

impl Processes {
    /// One pass over the table. `Unknown` when it cannot be trusted: none, hidden, another pid namespace than the
    /// host's, or this user has other processes and not one of them can be read.
    #[cfg(target_os = "linux")]
    pub fn snapshot() -> Fact<Processes> {
        table::read().into()
    }

    /// One pass over the table: this system's cannot be read yet.
    #[cfg(not(target_os = "linux"))]
    pub fn snapshot() -> Fact<Processes> {
        Fact::Unknown("the process table of this system cannot be read".into())
    }

    /// Who is inside each of these directories (resolved paths), our own process excepted: for each process the most
    /// telling use, and one process of each container that was given the directory or a part of it.
    pub fn inside(&self, roots: &[PathBuf]) -> Vec<Vec<Use>> {
        let mut found = vec![Vec::new(); roots.len()];
        let targets = Targets::new(roots, &self.views);
        let mut shown: Vec<Vec<(usize, &Path)>> = self.views.iter().map(|view| targets.shown_in(view)).collect();
        // What is mounted here holds by the mount table, without any process.
        shown.iter_mut().take(1).for_each(Vec::clear);
        let mut known: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        for process in &self.processes {
            let mut add = |root: usize, what: &'static str, path: &Path| {
                let found: &mut Vec<Use> = &mut found[root];
                let by_us = |found: &Use| matches!(found, Use::Process { pid, .. } if *pid == process.pid);
                if !found.last().is_some_and(by_us) {
                    found.push(Use::Process {
                        pid: process.pid,
                        name: process.name.clone(),
                        what,
                        path: path.to_owned(),
                    });
                }
            };
            for (what, path) in &process.uses {
                let name = self.paths[*path].as_path();
                let view = self.views.get(process.view);
                let roots = known.entry((process.view, *path)).or_insert_with(|| targets.of(name, view));
                for root in &*roots {
                    add(*root, what, name);
                }
            }
            for (root, point) in shown[process.view].drain(..) {
                add(root, "mount", point);
            }
        }
        found
    }
}

/// The directories asked for, by name and by place.
struct Targets {
    by_path: HashMap<PathBuf, Vec<usize>>,
    by_place: HashMap<(Vec<u8>, PathBuf), Vec<usize>>,
}

impl Targets {
    fn new(roots: &[PathBuf], views: &[Mounts]) -> Targets {
        let mut targets = Targets { by_path: HashMap::new(), by_place: HashMap::new() };
        for (number, root) in roots.iter().enumerate() {
            targets.by_path.entry(root.clone()).or_default().push(number);
            if let Some(place) = views.first().and_then(|ours| ours.place(root)) {
                targets.by_place.entry(place).or_default().push(number);
            }
        }
        targets
    }

    /// Those that a path, as a process with these mounts calls it, is in.
    fn of(&self, path: &Path, view: Option<&Mounts>) -> Vec<usize> {
        let deleted = |path: &Path| -> Option<PathBuf> {
            let name = path.file_name()?.as_encoded_bytes().strip_suffix(b" (deleted)")?;
            Some(path.with_file_name(std::os::unix::ffi::OsStrExt::from_bytes(name) as &std::ffi::OsStr))
        };
        let mut found = Vec::new();
        for path in std::iter::once(path.to_owned()).chain(deleted(path)) {
            found.extend(path.ancestors().filter_map(|above| self.by_path.get(above)).flatten());
            if let Some((device, at)) = view.and_then(|view| view.place(&path)) {
                let above = at.ancestors().map(|above| (device.clone(), above.to_owned()));
                found.extend(above.filter_map(|place| self.by_place.get(&place)).flatten());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Those of which a part (or all) is mounted for itself in this view, or in which something is mounted there that
    /// only this view sees, and where.
    fn shown_in<'a>(&self, view: &'a Mounts) -> Vec<(usize, &'a Path)> {
        let hidden = view.hides();
        let shown = |(place, roots): (&(Vec<u8>, PathBuf), &Vec<usize>)| {
            let inside = |(at, _): &&((Vec<u8>, PathBuf), &'a Path)| at.0 == place.0 && at.1.starts_with(&place.1);
            let point = view.shows_only(place).or_else(|| hidden.iter().find(inside).map(|(_, point)| *point))?;
            Some(roots.iter().map(|root| (*root, point)).collect::<Vec<_>>())
        };
        self.by_place.iter().filter_map(shown).flatten().collect()
    }
}
