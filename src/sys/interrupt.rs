//! Ctrl-C and `kill`: nothing that this process has started goes on without it, and no folder of it stays in the system's
//! temporary directory, and a terminal is as it was. Then it ends by the signal, at once, as if it had been killed: whatever was under way is told by
//! the journal, and the next run finishes or reverses it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::path::Path;
use std::process::Child;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tempfile::TempDir;

use super::{signal, threads::locked};

/// How long children may take to remove their lock files.
const LAST_WORDS: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct State {
    ending: bool,
    children: BTreeSet<u32>,
    folders: BTreeMap<u64, TempDir>,
    made: u64,
    terminal: Option<(Termios, &'static [u8])>,
}

static STATE: Mutex<State> =
    Mutex::new(State { ending: false, children: BTreeSet::new(), folders: BTreeMap::new(), made: 0, terminal: None });
static CHANGED: Condvar = Condvar::new();

/// A child that is not waited for yet. To be dropped once it is.
#[derive(Debug)]
pub struct Started(u32);

/// Start a child that ends with this process.
///
/// # Errors
/// Those of `spawn`.
pub fn start(spawn: impl FnOnce() -> std::io::Result<Child>) -> std::io::Result<(Child, Started)> {
    let mut state = going_on();
    let child = spawn()?;
    let started = Started(child.id());
    state.children.insert(started.0);
    Ok((child, started))
}

impl Drop for Started {
    fn drop(&mut self) {
        locked(&STATE).children.remove(&self.0);
        CHANGED.notify_all();
        // It was ended, and nobody should take that for an answer.
        drop(going_on());
    }
}

/// A folder that goes with this process, or when it is dropped.
#[derive(Debug)]
pub struct Folder {
    path: std::path::PathBuf,
    number: u64,
}

impl Folder {
    /// Have it deleted whatever ends this process, short of SIGKILL.
    pub(super) fn new(dir: TempDir) -> Folder {
        let mut state = going_on();
        state.made += 1;
        let folder = Folder { path: dir.path().to_owned(), number: state.made };
        state.folders.insert(folder.number, dir);
        folder
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let dir = locked(&STATE).folders.remove(&self.number);
        drop(dir);
    }
}

/// A terminal that is about to be used in another mode. To be dropped once it is as before.
#[derive(Debug)]
pub struct Terminal(());

/// Have the terminal at standard input put back into the mode it is in now, and told this, if a signal ends this process.
pub fn keep_terminal(farewell: &'static [u8]) -> Terminal {
    going_on().terminal = tcgetattr(std::io::stdin()).ok().map(|modes| (modes, farewell));
    Terminal(())
}

impl Drop for Terminal {
    fn drop(&mut self) {
        locked(&STATE).terminal = None;
    }
}

/// End as by Ctrl-C: in a terminal that hands on every key it is a key and no signal.
pub fn by_key() {
    end(SIGINT);
}

/// The state, for as long as this process is not about to end; a thread that comes later waits for the end.
fn going_on() -> MutexGuard<'static, State> {
    static WATCH: Once = Once::new();
    WATCH.call_once(watch);
    let state = locked(&STATE);
    if !state.ending {
        return state;
    }
    drop(state);
    loop {
        std::thread::park();
    }
}

/// Watch for signals in a thread. Without one, children are left to themselves, as by any other program.
fn watch() {
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    if let Ok(mut signals) = Signals::new(wanted) {
        std::thread::spawn(move || signals.forever().for_each(end));
    }
}

/// The signals that whoever started this process wants to be ignored (`nohup`, a shell's background), a bit each.
fn ignored() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn end(received: c_int) {
    let mut state = locked(&STATE);
    state.ending = true;
    state.children.iter().for_each(|child| signal::terminate_tree(*child));
    let waited = CHANGED.wait_timeout_while(state, LAST_WORDS, |state| !state.children.is_empty());
    let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
    state.folders.clear();
    if let Some((modes, farewell)) = state.terminal.take() {
        // It may be gone; then it needs nothing more.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &modes);
        let _ = rustix::io::write(std::io::stderr(), farewell);
    }
    // Only an unknown signal is an error, and these are known.
    let _ = emulate_default_handler(received);
}
