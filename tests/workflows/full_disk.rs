//! Not a byte more can be written from some step on (by a limit on the size of files, which also kills who does not
//! ignore its signal): what was done is told, and the next run finds nothing that it cannot finish.

use std::process::Command;

use fs_err as fs;

use crate::checker::Inventory;
use crate::harness::{Run, Sandbox, skip};

/// Whether this system can set another process's limits.
fn can_limit() -> bool {
    let can = Command::new("prlimit").arg("--version").output().is_ok_and(|said| said.status.success());
    if !can {
        skip("a full disk", "no prlimit");
    }
    can
}

/// A run that writes nothing from this step on.
fn run_with_full_disk(sandbox: &mut Sandbox, name: &str, args: &[&str], dies: bool) -> Run {
    sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=run:prlimit --pid $PPID --fsize=0"));
    let ignored = if dies { "" } else { "trap '' XFSZ; " };
    let mut command = sandbox.command("sh", &sandbox.repo());
    command.args(["-c", &format!("{ignored}exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_git-shadow")]).args(args);
    let output = command.output().unwrap();
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn no_lock_stays_that_says_nothing() {
    if !can_limit() {
        return;
    }
    for dies in [true, false] {
        let mut sandbox = Sandbox::mk();
        let _ = sandbox.landed("a");
        let before = Inventory::of(&sandbox, &["r"]);
        let run = run_with_full_disk(&mut sandbox, "pins", &["prune-sessions", "--yes", "--json"], dies);
        assert_eq!(run.status, if dies { -1 } else { 2 }, "{run:#?}");
        sandbox.prune();
        sandbox.assert_released("a");
        assert_eq!(before.lost(&sandbox), [""; 0]);
    }
}

#[test]
fn what_was_done_is_told_when_nothing_can_be_written_afterwards() {
    if !can_limit() {
        return;
    }
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let run = run_with_full_disk(&mut sandbox, "done", &["prune-sessions", "--yes", "--json"], false).exits(2);
    let steps = run.shadow("aos/a")["steps"].as_array().unwrap().clone();
    assert!(!steps.is_empty() && steps.iter().all(|step| step["outcome"] == "done"), "{run:#?}");
    assert!(!run.json()["repositories"][0]["errors"].as_array().unwrap().is_empty(), "{run:#?}");
    assert!(!run.json()["operation"].is_null(), "{run:#?}");
}

#[test]
fn undo_goes_on_where_it_could_not_write() {
    if !can_limit() {
        return;
    }
    for name in ["undo-branch", "undo-placed"] {
        let mut sandbox = Sandbox::mk();
        let _ = sandbox.landed("a");
        sandbox.prune();
        assert_eq!(run_with_full_disk(&mut sandbox, name, &["undo"], true).status, -1, "{name}");
        sandbox.shadow("r", ["undo"]).exits(0);
        assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a", "{name}");
        assert_eq!(
            fs::read_dir(sandbox.root()).unwrap().filter(|e| is_hidden(e.as_ref().unwrap())).count(),
            0,
            "{name}"
        );
    }
}

fn is_hidden(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(".a")
}
