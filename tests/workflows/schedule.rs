//! The timer: in the real table of cron, on a spool of its own.

use std::path::Path;

use fs_err as fs;
use serde_json::Value;

use crate::harness::{Run, Sandbox, executable, skip};
use crate::other_user::{root_or_skip, run_through, subject};

/// Run an ignored test with an empty spool for cron's tables.
fn with_own_spool(name: &str) {
    if !root_or_skip(name) {
        return;
    }
    let sandbox = Sandbox::empty();
    if !sandbox.command("sh", sandbox.root()).args(["-c", "command -v crontab"]).output().unwrap().status.success() {
        return skip(name, "there is no crontab");
    }
    let spool = sandbox.path("spool");
    fs::create_dir(&spool).unwrap();
    let mount = format!(
        "s=/var/spool/cron/crontabs; chgrp --reference=$s {0}; chmod 1730 {0}; mount --bind {0} $s; exec \"$@\"",
        spool.display()
    );
    run_through(&sandbox, &["unshare", "-m", "sh", "-euc", &mount, "sh"], name, sandbox.root());
}

fn crontab(sandbox: &Sandbox) -> Option<String> {
    let output = sandbox.command("crontab", sandbox.root()).arg("-l").output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

fn schedule(sandbox: &Sandbox, args: &[&str]) -> Run {
    sandbox.shadow("", ["schedule"].iter().chain(args).chain(&["--json"]))
}

#[track_caller]
fn state(run: &Run) -> (Value, Value) {
    let timer = &run.json()["timers"][0];
    (timer["state"].clone(), timer["change"].clone())
}

#[test]
fn cron_keeps_the_timer_and_every_other_line() {
    with_own_spool("schedule::in_an_own_spool");
}

#[test]
#[ignore = "run by the test above, with a spool of its own"]
fn in_an_own_spool() {
    let _ = subject();
    let sandbox = Sandbox::mk();
    assert_eq!(state(&schedule(&sandbox, &["status"]).exits(0)), ("absent".into(), Value::Null));
    assert_eq!(state(&schedule(&sandbox, &["remove"]).exits(0)), ("absent".into(), Value::Null));
    let run = schedule(&sandbox, &["install", "--under", ".", "-n", "--via", "cron"]).exits(0);
    assert_eq!(state(&run), ("absent".into(), "installed".into()));
    assert_eq!(crontab(&sandbox), None);

    // Where nobody had a table, none is left.
    let run = schedule(&sandbox, &["install", "--under", ".", "--via", "cron"]).exits(0);
    assert_eq!(state(&run), ("installed".into(), "installed".into()));
    let first = crontab(&sandbox).unwrap();
    assert!(first.starts_with("17 4 * * * PATH="), "{first}");
    let run = schedule(&sandbox, &["install", "--under", ".", "--via", "cron"]).exits(0);
    assert_eq!(state(&run), ("installed".into(), Value::Null));
    assert_eq!(crontab(&sandbox).unwrap(), first);
    assert_eq!(state(&schedule(&sandbox, &["remove"]).exits(0)), ("absent".into(), "removed".into()));
    assert_eq!(crontab(&sandbox), None);

    // Every other line stays.
    let others = "# mine\nMAILTO=me\n\n  5 5 * * *\tdate +\\%s # git-shadow\n@daily true\n";
    sandbox.write("table", others);
    sandbox.sh("", "crontab table");
    schedule(&sandbox, &["install", "--under", ".", "--via", "cron"]).exits(0);
    let run = schedule(&sandbox, &["install", "--under", ".", "--every", "6h", "--via", "cron"]).exits(0);
    assert_eq!(state(&run), ("installed".into(), "updated".into()));
    let table = crontab(&sandbox).unwrap();
    assert_eq!(table.lines().filter(|line| line.contains("prune-sessions")).count(), 1, "{table}");
    assert!(table.starts_with(others) && table.contains("\n17 */6 * * * "), "{table}");

    // What somebody has changed is theirs.
    sandbox.write("table", table.replace("--fetch ", ""));
    sandbox.sh("", "crontab table");
    for args in [&["remove"][..], &["install", "--under", ".", "--via", "cron"]] {
        let run = schedule(&sandbox, args).exits(1);
        assert_eq!(state(&run), ("edited".into(), Value::Null));
        assert_eq!(crontab(&sandbox).unwrap(), sandbox.read("table"));
    }
    sandbox.write("table", table);
    sandbox.sh("", "crontab table");
    schedule(&sandbox, &["remove"]).exits(0);
    assert_eq!(crontab(&sandbox).unwrap(), others);

    sandbox.sh("", "crontab -r");
    what_cron_runs_sweeps();
}

/// The line is run as cron runs it, on paths that hold what means something to cron or the shell.
fn what_cron_runs_sweeps() {
    for name in ["plain", "a b", "100%", "it's", "q\"q", "back\\slash", "$HOME `x`"] {
        let mut sandbox = Sandbox::mk();
        let bin = sandbox.path(name).join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-shadow"), bin.join("git-shadow")).unwrap();
        sandbox.set("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
        schedule(&sandbox, &["install", "--under", name, "--via", "cron"]).exits(0);
        fs::remove_file(bin.join("git-shadow")).unwrap();
        let note = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >'{}'\n", sandbox.path("ran").display());
        executable(&sandbox, Path::new(name).join("bin/git-shadow"), &note);
        let table = crontab(&sandbox).unwrap();
        let command = table.trim_end().splitn(6, ' ').nth(5).unwrap();
        // An unescaped '%' would end it here.
        assert!(!command.replace("\\%", "").contains('%'), "{command}");
        let command = command.replace("\\%", "%");
        let run = sandbox.command("/bin/sh", Path::new("/")).args(["-c", &command]).output().unwrap();
        assert!(run.status.success(), "{name}: {command}: {run:?}");
        let under = sandbox.path(name);
        let words = ["prune-sessions", "--under", under.to_str().unwrap(), "--fetch", "--yes", "-q", ""];
        assert_eq!(sandbox.read("ran"), words.join("\n"), "{command}");
        schedule(&sandbox, &["remove"]).exits(0);
    }
}

#[test]
fn a_directory_must_be_named_and_be_there() {
    let sandbox = Sandbox::mk();
    let run = sandbox.shadow("", ["schedule", "install"]).exits(129);
    assert!(run.stderr.contains("--under"), "{run:?}");
    sandbox.shadow("", ["schedule", "install", "--under", "nowhere"]).exits(128);
    let run = sandbox.shadow("", ["schedule", "install", "--under", ".", "--every", "7h"]).exits(129);
    assert!(run.stderr.contains("one of '15m'"), "{run:?}");
}

#[test]
fn without_a_systemd_of_the_user_nothing_is_written_for_it() {
    let sandbox = Sandbox::mk();
    // The sandbox has no bus.
    let run = sandbox.shadow("", ["schedule", "install", "--under", ".", "--via", "systemd"]).exits(2);
    assert!(run.stderr.contains("systemctl"), "{run:?}");
    assert!(!sandbox.path("home/.config/systemd").exists());
}
