//! The hook scripts under real git: whatever stands where git-shadow should be, git's result is its own, and the hook that
//! was there before is called as git would have called it.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use fs_err as fs;

use crate::harness::{Sandbox, executable, skip};

/// A repository with an origin and our hooks in it, which call what is at `bin/git-shadow`.
pub fn hooked() -> Sandbox {
    let mut sandbox = Sandbox::mk();
    sandbox.origin();
    fs::create_dir_all(sandbox.path("bin")).unwrap();
    let bin = sandbox.path("bin/git-shadow");
    fs::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-shadow"), &bin).unwrap();
    let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap());
    sandbox.set("PATH", path);
    sandbox.shadow("r", ["hooks", "install", "--via=file"]).exits(0);
    sandbox
}

/// Put a script where the hooks look for git-shadow. It first notes how it was called in `calls`.
pub fn stand_in(sandbox: &Sandbox, body: &str) {
    let calls = sandbox.path("calls");
    let note = format!("echo \"$@\" >>'{}'; env >'{}'", calls.display(), sandbox.path("env").display());
    executable(sandbox, "bin/git-shadow", &format!("#!/bin/sh\n{note}\n{body}\n"));
}

/// How the stand-in was called since the last time this was asked.
pub fn calls(sandbox: &Sandbox) -> Vec<String> {
    let file = sandbox.path("calls");
    let text = fs::read_to_string(&file).unwrap_or_default();
    let _ = fs::remove_file(&file);
    text.lines().map(ToOwned::to_owned).collect()
}

/// The processes that were started in a sandbox and still run: all of them have its home.
fn running(sandbox: &Sandbox) -> Vec<String> {
    let home = format!("HOME={}", sandbox.path("home").display());
    let of = |pid: &Path| {
        let environment = fs::read(pid.join("environ")).ok()?;
        let ours = environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes());
        ours.then(|| String::from_utf8_lossy(&fs::read(pid.join("cmdline")).unwrap_or_default()).replace('\0', " "))
    };
    fs::read_dir("/proc").unwrap().filter_map(|entry| of(&entry.unwrap().path())).collect()
}

/// Nothing is left running; a process that has just been killed gets a moment to go.
#[track_caller]
fn assert_nothing_left(sandbox: &Sandbox) {
    let start = Instant::now();
    while !running(sandbox).is_empty() {
        assert!(start.elapsed() < Duration::from_millis(500), "{:?}", running(sandbox));
        std::thread::yield_now();
    }
}

/// Run git and tell how long it took.
fn timed(sandbox: &Sandbox, args: &[&str]) -> (Output, Duration) {
    let start = Instant::now();
    let output = sandbox.command("git", &sandbox.repo()).args(args).output().unwrap();
    (output, start.elapsed())
}

/// What may stand where git-shadow should be, and whether it takes all of the time that it is given.
const STAND_INS: &[(&str, &str, bool)] = &[
    ("ends well", "exit 0", false),
    ("crashes", "exit 101", false),
    ("is killed", "kill -9 $$", false),
    ("is slow", "sleep 0.2", false),
    ("hangs", "exec sleep 10", true),
    ("hangs and is stubborn", "trap '' TERM USR1 HUP INT; while :; do :; done", true),
];

#[test]
fn whatever_git_shadow_does_git_ends_as_without_it() {
    let sandbox = hooked();
    for (n, (what, body, hangs)) in STAND_INS.iter().enumerate() {
        stand_in(&sandbox, body);
        sandbox.git("r", ["checkout", "-q", "-b", &format!("b{n}")]);
        sandbox.write(format!("r/{n}"), "");
        let tip = sandbox.commit("r", what);
        sandbox.git("r", ["checkout", "-q", "main"]);

        let (merge, took) = timed(&sandbox, &["merge", &format!("b{n}")]);
        assert!(merge.status.success(), "{what}: {merge:?}");
        assert_eq!(sandbox.git("r", ["rev-parse", "HEAD"]), tip);
        assert_eq!(String::from_utf8_lossy(&merge.stderr), "", "{what}");
        assert_eq!(calls(&sandbox), ["hook post-merge 0"], "{what}");
        assert!(took < Duration::from_secs(3), "{what}: {took:?}");
        assert_eq!(took >= Duration::from_millis(900), *hangs, "{what}: {took:?}");
        assert_nothing_left(&sandbox);

        let (push, took) = timed(&sandbox, &["push", "origin", "main"]);
        assert!(push.status.success(), "{what}: {push:?}");
        assert_eq!(sandbox.git("o.git", ["rev-parse", "main"]), tip);
        assert_eq!(calls(&sandbox), ["hook pre-push origin ../o.git"], "{what}");
        assert!(took < Duration::from_secs(3), "{what}: {took:?}");
        assert_nothing_left(&sandbox);
    }
}

#[test]
fn without_a_program_to_run_git_says_nothing() {
    let mut sandbox = hooked();
    sandbox.set("PATH", std::env::var("PATH").unwrap());
    let git = |sandbox: &Sandbox, what: &str| {
        sandbox.git("r", ["checkout", "-q", "-b", what]);
        sandbox.write(format!("r/{what}"), "");
        sandbox.commit("r", what);
        sandbox.git("r", ["checkout", "-q", "main"]);
        let (merge, _) = timed(sandbox, &["merge", "-q", what]);
        let (push, _) = timed(sandbox, &["push", "-q"]);
        for run in [merge, push] {
            assert!(run.status.success() && run.stderr.is_empty() && run.stdout.is_empty(), "{what}: {run:?}");
        }
    };
    stand_in(&sandbox, "");
    sandbox.sh("", "chmod -x bin/git-shadow");
    git(&sandbox, "not-executable");
    fs::remove_file(sandbox.path("bin/git-shadow")).unwrap();
    git(&sandbox, "missing");
    fs::create_dir(sandbox.path("bin/git-shadow")).unwrap();
    git(&sandbox, "directory");
    assert_eq!(calls(&sandbox), [""; 0]);

    // Where it has moved to, PATH may know.
    fs::remove_dir(sandbox.path("bin/git-shadow")).unwrap();
    stand_in(&sandbox, "");
    sandbox.sh("", "mkdir other && mv bin/git-shadow other/");
    sandbox.set("PATH", format!("{}:{}", sandbox.path("other").display(), std::env::var("PATH").unwrap()));
    git(&sandbox, "moved");
    assert_eq!(calls(&sandbox), ["hook post-merge 0", "hook pre-push origin ../o.git"]);
}

#[test]
fn what_it_leaves_running_does_not_keep_who_reads_gits_output_waiting() {
    let sandbox = hooked();
    // It should have closed what it inherited, and did not.
    stand_in(&sandbox, "sleep 6 &");
    sandbox.write("r/f", "new\n");
    sandbox.commit("r", "new");
    let (push, took) = timed(&sandbox, &["push", "-q"]);
    assert!(push.status.success());
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert!(running(&sandbox).iter().any(|one| one.contains("sleep 6")), "{:?}", running(&sandbox));
}

#[test]
fn one_line_after_a_merge_is_shown_and_nothing_after_a_push() {
    let sandbox = hooked();
    stand_in(&sandbox, "echo 'released aos/x' >&2; echo noise");
    sandbox.git("r", ["checkout", "-q", "-b", "b"]);
    sandbox.write("r/new", "");
    sandbox.commit("r", "new");
    sandbox.git("r", ["checkout", "-q", "main"]);
    let (merge, _) = timed(&sandbox, &["merge", "-q", "b"]);
    assert_eq!(String::from_utf8_lossy(&merge.stderr), "released aos/x\n");
    assert_eq!(String::from_utf8_lossy(&merge.stdout), "");
    let (push, _) = timed(&sandbox, &["push", "-q"]);
    assert_eq!(String::from_utf8_lossy(&push.stderr) + String::from_utf8_lossy(&push.stdout), "");
}

#[test]
fn variables_that_name_a_repository_are_cleared_for_us_and_kept_for_the_hook_before() {
    let sandbox = hooked();
    sandbox.shadow("r", ["hooks", "remove"]).exits(0);
    let dump = format!("#!/bin/sh\nenv >'{}'\n", sandbox.path("env-kept").display());
    executable(&sandbox, "r/.git/hooks/post-merge", &dump);
    sandbox.shadow("r", ["hooks", "install", "--via=file"]).exits(0);
    stand_in(&sandbox, "");

    let mut command = sandbox.command("sh", &sandbox.repo());
    command.args([".git/hooks/post-merge", "0"]);
    let names = sandbox.git("r", ["rev-parse", "--local-env-vars"]);
    let names: Vec<&str> = names.lines().collect();
    assert!(names.contains(&"GIT_DIR"), "{names:?}");
    for name in &names {
        command.env(name, "/nowhere");
    }
    // They are not for the program only by chance: a variable of the user's stays.
    command.env("_gs", "user's");
    let run = command.output().unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
    let (ours, kept) = (sandbox.read("env"), sandbox.read("env-kept"));
    for name in names {
        let line = format!("{name}=/nowhere");
        assert!(kept.lines().any(|l| l == line), "{name}: {kept}");
        assert!(!ours.lines().any(|l| l.starts_with(&format!("{name}="))), "{name}: {ours}");
    }
    assert!(ours.contains("_gs=user's") && kept.contains("_gs=user's"));
    assert!(!kept.contains("_gs_program"), "{kept}");
}

#[test]
fn the_hook_before_gets_its_input_arguments_and_has_the_last_word() {
    let sandbox = hooked();
    sandbox.shadow("r", ["hooks", "remove"]).exits(0);
    let seen = sandbox.path("seen");
    let hook = format!("#!/bin/sh\n{{ echo \"$#:$1:$2\"; pwd; cat; }} >'{}'\nexit $(cat ../status)\n", seen.display());
    executable(&sandbox, "r/.git/hooks/pre-push", &hook);
    sandbox.shadow("r", ["hooks", "install", "--via=file"]).exits(0);
    for body in ["cat >/dev/null", "exec sleep 10"] {
        stand_in(&sandbox, body);
        for status in [1, 0] {
            sandbox.write("status", status.to_string());
            sandbox.write("r/f", format!("{body} {status}\n"));
            let tip = sandbox.commit("r", "new");
            let before = sandbox.git("o.git", ["rev-parse", "main"]);
            let (push, _) = timed(&sandbox, &["push", "-q", "origin", "main"]);
            assert_eq!(push.status.success(), status == 0, "{push:?}");
            let line = format!("refs/heads/main {tip} refs/heads/main {before}\n");
            let text = fs::read_to_string(&seen).unwrap();
            assert_eq!(text, format!("2:origin:../o.git\n{}\n{line}", sandbox.repo().display()));
            assert_eq!(calls(&sandbox), ["hook pre-push origin ../o.git"]);
        }
    }
    // One that git would not run is not run by us.
    sandbox.sh("r", "chmod -x .git/hooks/pre-push.git-shadow-kept");
    sandbox.write("status", "1");
    sandbox.write("r/f", "last\n");
    sandbox.commit("r", "last");
    assert!(sandbox.git_ok("r", ["push", "-q"]));
}

#[test]
fn an_interrupt_ends_what_the_hook_started() {
    let sandbox = hooked();
    stand_in(&sandbox, "exec sleep 10");
    let mut command = sandbox.command("sh", &sandbox.repo());
    let mut child = command.args([".git/hooks/post-merge", "0"]).spawn().unwrap();
    let start = Instant::now();
    while !running(&sandbox).iter().any(|one| one.contains("sleep 10")) {
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_nothing_left(&sandbox);
}

#[test]
fn every_shell_runs_them_alike() {
    let sandbox = hooked();
    for shell in ["dash", "bash", "bash --posix", "busybox sh", "ksh", "zsh --emulate sh", "yash", "mksh"] {
        let mut words = shell.split(' ');
        let program = words.next().unwrap();
        let there = sandbox.command("sh", &sandbox.repo()).args(["-c", "command -v \"$0\"", program]).output().unwrap();
        if !there.status.success() {
            if ["dash", "bash", "busybox"].contains(&program) {
                skip("the hooks under every shell", &format!("{program} is not there"));
            }
            continue;
        }
        let words: Vec<&str> = words.collect();
        for (what, body, hangs) in STAND_INS {
            stand_in(&sandbox, body);
            for event in ["post-merge", "pre-push"] {
                let mut command = sandbox.command(program, &sandbox.repo());
                command.args(&words).arg(format!(".git/hooks/{event}")).args(["a b", "c"]);
                let start = Instant::now();
                let run = command.output().unwrap();
                let took = start.elapsed();
                assert!(run.status.success(), "{shell}, {what}: {run:?}");
                assert_eq!((run.stdout.as_slice(), run.stderr.as_slice()), (&[][..], &[][..]), "{shell}, {what}");
                assert_eq!(calls(&sandbox), [format!("hook {event} a b c")], "{shell}, {what}");
                assert_eq!(took >= Duration::from_millis(900), *hangs, "{shell}, {what}: {took:?}");
                assert!(took < Duration::from_secs(3), "{shell}, {what}: {took:?}");
                assert_nothing_left(&sandbox);
            }
        }
    }
}
