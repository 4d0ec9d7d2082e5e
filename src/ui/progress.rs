//! How far it is: on a terminal only, and only for work that takes more than half a second.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work under way; dropped, it leaves no trace on the terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(super) fn new(what: &'static str, total: usize, watched: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        if !watched {
            return Progress { bar, waiting: None };
        }
        if let Ok(style) = ProgressStyle::with_template("{msg}: {percent}% ({pos}/{len})") {
            bar.set_style(style);
        }
        bar.set_message(what);
        let (done, wait) = channel();
        let shown = bar.clone();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(Duration::from_millis(500)) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.tick();
            }
        });
        Progress { bar, waiting: Some((done, thread)) }
    }

    /// One more is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.waiting.take() {
            drop(done);
            // It only draws; that it ended badly loses nothing.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
