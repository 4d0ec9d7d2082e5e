//! Parts of tests that must run as somebody or somewhere else: the test binary runs one of its own ignored tests.

use std::path::Path;
use std::process::Command;

use crate::harness::Sandbox;

/// The user and group `nobody`.
pub const NOBODY: &str = "65534";

/// Whether this run may become another user; says so when not.
pub fn root_or_skip(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: '{test}' needs root");
    }
    root
}

/// Run the ignored test `name` through `wrapper` (for instance `setpriv …`) with `subject` as `$SUBJECT`; it must pass.
#[track_caller]
pub fn run_through(sandbox: &Sandbox, wrapper: &[&str], name: &str, subject: &Path) {
    // A copy, because another user may not be able to reach the target directory.
    let copy = sandbox.path("tests-for-others");
    if !copy.exists() {
        fs_err::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    }
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(&copy).args(["--exact", name, "--ignored", "--nocapture"]);
    let output = command.env("SUBJECT", subject).current_dir("/").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{name} through {wrapper:?}: {said}");
}

/// What the test that runs elsewhere is about.
pub fn subject() -> std::path::PathBuf {
    std::env::var_os("SUBJECT").unwrap().into()
}
