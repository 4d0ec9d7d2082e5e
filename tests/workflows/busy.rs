//! Runs that meet others: a lock that is held, two sweeps at once, a writer, a kill in the middle of a large deletion, a
//! lock that is put back, a journal that cannot be read.

use std::path::Path;
use std::process::Stdio;

use fs_err as fs;

use crate::checker::Inventory;
use crate::harness::{Run, Sandbox, Tree};

fn landed_with_cache(files: usize) -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", "target/\n");
    sandbox.commit("r", "ignore");
    let _ = sandbox.landed("a");
    sandbox.sh("a", &format!("mkdir -p target/d; cd target/d; seq {files} | xargs touch"));
    sandbox
}

#[test]
fn a_lock_that_is_held_for_long_is_fatal() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.write("r/.git/shadow/lock", "");
    let script = "exec 9>>.git/shadow/lock; flock 9; echo; read -r _";
    let mut holder = sandbox.command("bash", &sandbox.repo());
    let mut holder = holder.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let before = sandbox.image();
    let run = sandbox.shadow("r", ["prune-sessions", "--yes"]);
    let list = sandbox.shadow("r", ["list"]);
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(run.status, 128, "{run:#?}");
    assert!(run.stderr.contains("lock"), "{run:#?}");
    assert_eq!(list.status, 0, "reading needs no lock: {list:#?}");
    assert_eq!(before.changes(&sandbox.image()), [""; 0]);
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn two_sweeps_at_once_release_each_shadow_once() {
    let sandbox = Sandbox::mk();
    let names: Vec<String> = (0..6).map(|n| format!("n{n}")).collect();
    for x in &names {
        let _ = sandbox.landed(x);
    }
    let before = Inventory::of(&sandbox, &["r"]);
    let start = || {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_git-shadow"), &sandbox.repo());
        command
            .args(["prune-sessions", "--yes", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let runs = [start(), start()].map(|child| child.wait_with_output().unwrap());
    for run in &runs {
        let status = run.status.code().unwrap();
        assert!([0, 128].contains(&status), "{}", String::from_utf8_lossy(&run.stderr));
    }
    for x in &names {
        sandbox.assert_released(x);
    }
    let deleted = sandbox.shadow("r", ["log", "--json"]).stdout;
    assert_eq!(before.lost(&sandbox), [""; 0], "{deleted}");
}

#[test]
fn c10_a_writer_in_a_cache_while_it_goes() {
    let sandbox = landed_with_cache(50);
    let before = Inventory::of(&sandbox, &["r"]);
    let target = sandbox.path("a/target");
    let script = "for i in $(seq 400); do mkdir -p \"$0/log/d$i\" && echo x >\"$0/log/d$i/f\"; done";
    let mut writer = sandbox.command("sh", Path::new("/"));
    let mut writer = writer.args(["-c", script]).arg(&target).stderr(Stdio::null()).spawn().unwrap();
    let run = sandbox.shadow("r", ["prune-sessions", "--yes", "--json"]);
    writer.wait().unwrap();
    assert!([0, 2].contains(&run.status), "{run:#?}");
    if sandbox.path("r/.git/worktrees/a").exists() {
        assert!(sandbox.has_branch("aos/a"), "never the branch alone: {run:#?}");
    }
    assert_eq!(before.lost(&sandbox), [""; 0]);
    // The writer may have made the path anew while the tree was aside: then all of it waits until the path is free.
    if run.status == 2 && sandbox.path("a/target").exists() && !sandbox.path("a/f").exists() {
        fs::rename(sandbox.path("a"), sandbox.path("taken")).unwrap();
        sandbox.shadow("r", ["undo"]);
        assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a");
    } else {
        let _ = sandbox.json(&["prune-sessions", "--yes"]);
        assert!(!sandbox.has_branch("aos/a"), "{run:#?}");
    }
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn c82_a_large_deletion_that_is_killed_again_and_again() {
    let sandbox = landed_with_cache(20_000);
    let before = Inventory::of(&sandbox, &["r"]);
    let mut killed = 0;
    for hundredths in 5..60 {
        let mut command = sandbox.command("timeout", &sandbox.repo());
        command.args(["-s", "KILL", &format!("0.{hundredths:02}"), env!("CARGO_BIN_EXE_git-shadow")]);
        let status = command.args(["prune-sessions", "--yes", "-q"]).status().unwrap();
        if status.success() {
            break;
        }
        killed += 1;
    }
    assert!(killed > 0);
    sandbox.prune();
    sandbox.assert_released("a");
    assert_eq!(sandbox.sh("", "find . -name '.a.shadow-*'"), "");
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn c42_a_stale_lock_is_put_back_with_its_reason() {
    let mut sandbox = landed_with_cache(1);
    let reason = "claude agent x (pid 4194000 start Fri Jun 19 21:37:40 2026)";
    sandbox.git("r", ["worktree", "lock", "--reason", reason, "../a"]);
    sandbox.write("home/.config/git-shadow/config.toml", "locks.stale = \"release\"\n");
    let lock = Tree::of(&sandbox.path("r/.git/worktrees/a/locked"));
    let script = format!("run:cd '{}'/.a.shadow-* && echo late >late", sandbox.root().display());
    sandbox.set("GIT_SHADOW_FAILPOINT", format!("renamed={script}"));
    let run = sandbox.shadow("r", ["prune-sessions", "--yes", "--json"]);
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    assert_eq!(run.status, 2, "{run:#?}");
    let content = |tree: &Tree| tree.0.values().map(|entry| entry.content).collect::<Vec<_>>();
    assert_eq!(content(&Tree::of(&sandbox.path("r/.git/worktrees/a/locked"))), content(&lock), "{run:#?}");
    assert!(sandbox.path("a/late").exists() || sandbox.sh("", "ls -d .a.shadow-*/late").contains("late"), "{run:#?}");
    assert_eq!(sandbox.git("a", ["log", "-1", "--format=%s"]), "a");
    let late = sandbox.sh("", "find . -name 'late'");
    assert_eq!(late.lines().count(), 1, "{late}");
    fs::remove_file(sandbox.root().join(late)).unwrap();
    sandbox.prune();
    sandbox.assert_released("a");
}

/// It fails with 128, names the journal and changes nothing.
#[track_caller]
fn refused(sandbox: &Sandbox, args: &[&str]) -> Run {
    let before = sandbox.image();
    let run = sandbox.shadow("r", args);
    assert_eq!(run.status, 128, "{args:?}: {run:#?}");
    assert!(run.stderr.contains("journal") && run.stderr.contains("operations"), "{args:?}: {run:#?}");
    assert_eq!(before.changes(&sandbox.image()), [""; 0], "{args:?}");
    run
}

#[test]
fn a_journal_that_cannot_be_read_is_fatal_and_changes_nothing() {
    let mut sandbox = landed_with_cache(1);
    sandbox.set("GIT_SHADOW_FAILPOINT", "renamed=kill");
    assert_eq!(sandbox.shadow("r", ["prune-sessions", "--yes"]).status, -1);
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    let intents = sandbox.sh("r", "find .git/shadow/operations -name intent.json");
    assert!(!intents.is_empty());
    for intent in intents.lines().map(|intent| sandbox.repo().join(intent)) {
        let whole = fs::read(&intent).unwrap();
        for broken in [&b"{"[..], b"", &whole[..whole.len() / 2]] {
            fs::write(&intent, broken).unwrap();
            refused(&sandbox, &["prune-sessions", "--yes"]);
            refused(&sandbox, &["undo"]);
        }
        fs::write(&intent, whole).unwrap();
    }
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn the_answer_no_is_1() {
    let sandbox = landed_with_cache(1);
    sandbox.shadow("r", ["list", "--exit-code"]).exits(1);
    sandbox.write("a/new", "new\n");
    sandbox.shadow("r", ["list", "--exit-code"]).exits(0);
    let run = sandbox.shadow("r", ["release", "aos/a"]);
    assert_eq!(run.status, 1, "{run:#?}");
    assert!(sandbox.path("a/new").exists() && sandbox.has_branch("aos/a"));
}

#[test]
fn a_repository_with_the_other_hash() {
    let sandbox = Sandbox::empty();
    sandbox.git("", ["init", "-q", "-b", "main", "--object-format=sha256", "r"]);
    sandbox.write("r/f", "base\n");
    sandbox.commit("r", "base");
    let _ = sandbox.landed("a");
    let tip = sandbox.git("r", ["rev-parse", "aos/a"]);
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.git("r", ["gc", "-q", "--prune=now"]);
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(sandbox.git("r", ["rev-parse", "aos/a"]), tip);
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "");
}

#[test]
fn who_looks_while_a_run_works_is_told_so() {
    let mut sandbox = Sandbox::mk();
    sandbox.landed("a");
    let binary = env!("CARGO_BIN_EXE_git-shadow");
    sandbox
        .set("GIT_SHADOW_FAILPOINT", format!("marker=run:'{binary}' -C '{}' list >../seen", sandbox.repo().display()));
    sandbox.sh("r", &format!("'{binary}' prune-sessions --yes"));
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    let seen = fs::read_to_string(sandbox.path("seen")).unwrap();
    assert!(seen.contains("is under way") && !seen.contains("interrupted"), "{seen}");
    sandbox.assert_released("a");
}
