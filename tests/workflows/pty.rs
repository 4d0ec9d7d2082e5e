//! A terminal for what only happens on one. `script` of util-linux makes it and runs the command in it.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::harness::Sandbox;

/// Longer than this, and what was waited for will not come.
const PATIENCE: Duration = Duration::from_secs(20);

/// Everything that was shown so far, and whether more can come.
#[derive(Default)]
struct Shown {
    bytes: Vec<u8>,
    ended: bool,
}

/// A command on a terminal.
pub struct Terminal {
    child: Child,
    keys: Option<ChildStdin>,
    shown: Arc<(Mutex<Shown>, Condvar)>,
    /// Up to here it was waited for.
    seen: usize,
}

impl Terminal {
    /// Run a shell command in `dir` on a terminal that is so many columns wide.
    pub fn run(sandbox: &Sandbox, dir: impl AsRef<Path>, columns: usize, command: &str) -> Terminal {
        let mut script = sandbox.command("script", &sandbox.root().join(dir));
        let line = format!("stty rows 40 cols {columns}; exec {command}");
        script.args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"]);
        script.env("SHELL", "/bin/sh").env("TERM", "xterm-256color");
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = script.spawn().unwrap();
        let keys = child.stdin.take();
        let mut out = child.stdout.take().unwrap();
        let shown = Arc::new((Mutex::new(Shown::default()), Condvar::new()));
        let writer = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let read = out.read(&mut buffer).unwrap_or(0);
                let Ok(mut shown) = writer.0.lock() else { return };
                shown.bytes.extend_from_slice(&buffer[..read]);
                shown.ended = read == 0;
                writer.1.notify_all();
                if shown.ended {
                    return;
                }
            }
        });
        Terminal { child, keys, shown, seen: 0 }
    }

    /// Type.
    pub fn keys(&mut self, keys: &str) -> &mut Terminal {
        let input = self.keys.as_mut().unwrap();
        input.write_all(keys.as_bytes()).unwrap();
        input.flush().unwrap();
        self
    }

    /// Wait until this is shown, behind what was waited for before.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> &mut Terminal {
        let text = text.as_bytes();
        let shown = self.shown.0.lock().unwrap();
        let find = |shown: &Shown| shown.bytes[self.seen..].windows(text.len()).position(|part| part == text);
        let waited = self.shown.1.wait_timeout_while(shown, PATIENCE, |shown| find(shown).is_none() && !shown.ended);
        let (shown, _) = waited.unwrap();
        let at = find(&shown);
        let all = String::from_utf8_lossy(&shown.bytes).into_owned();
        let Some(at) = at else {
            panic!("not shown: {:?}; all that was shown: {all:#?}", String::from_utf8_lossy(text))
        };
        self.seen += at + text.len();
        drop(shown);
        self
    }

    /// All that was shown until it ended, and its exit status.
    pub fn ends(mut self) -> (i32, String) {
        let shown = self.shown.0.lock().unwrap();
        let (shown, late) = self.shown.1.wait_timeout_while(shown, PATIENCE, |shown| !shown.ended).unwrap();
        let text = String::from_utf8_lossy(&shown.bytes).into_owned();
        drop(shown);
        assert!(!late.timed_out(), "it does not end; all that was shown: {text:#?}");
        let status = self.child.wait().unwrap();
        (status.code().unwrap_or(-1), text)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Without a keyboard its terminal is closed, and what still runs on it ends.
        self.keys.take();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
