//! Taking back what a run released: before and after a gc, where something is taken meanwhile, and twice.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fs_err as fs;

use crate::harness::{Sandbox, Tree};

/// A landed shadow with a history in its reflogs, a config section and an executable.
fn landed() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("a", ["commit", "-q", "--amend", "-m", "rewritten"]);
    sandbox.write("a/dir/run", "#!/bin/sh\n");
    sandbox.sh(
        "a",
        "chmod +x dir/run; ln -s dir/run link; git config extra.x y; git config branch.aos/a.description 'of a'",
    );
    sandbox.commit("a", "more");
    sandbox.squash("a");
    sandbox
}

/// All that must be as it was: contents, modes and links, reflogs, refs, configuration.
fn state(sandbox: &Sandbox) -> (BTreeMap<PathBuf, (u32, u64)>, [String; 4]) {
    let files = Tree::of(&sandbox.path("a")).0.into_iter().map(|(path, entry)| (path, (entry.mode, entry.content)));
    let log = |path: &str| fs::read_to_string(sandbox.path(path)).unwrap_or_default();
    let texts = [
        log("r/.git/logs/refs/heads/aos/a"),
        log("r/.git/worktrees/a/logs/HEAD"),
        sandbox.git("r", ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"]),
        sandbox.git("r", ["config", "--local", "--list"]),
    ];
    (files.collect(), texts)
}

fn round_trip(between: impl Fn(&Sandbox)) {
    let sandbox = landed();
    let before = state(&sandbox);
    sandbox.prune();
    sandbox.assert_released("a");
    between(&sandbox);
    let run = sandbox.shadow("r", ["undo"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!(before, state(&sandbox));
    assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a");
    assert!(sandbox.git("r", ["worktree", "list"]).contains("/a "));
    sandbox.git("r", ["fsck", "--strict"]);
}

#[test]
fn c98_undo_brings_everything_back() {
    round_trip(|_| {});
}

#[test]
fn c98_undo_works_after_a_gc() {
    round_trip(|sandbox| {
        sandbox.git("r", ["reflog", "expire", "--all", "--expire=now"]);
        sandbox.git("r", ["gc", "-q", "--prune=now"]);
    });
}

#[test]
fn what_was_taken_back_is_locked_until_it_is_released_by_name() {
    let sandbox = landed();
    sandbox.prune();
    sandbox.shadow("r", ["undo"]).exits(0);
    sandbox.assert_held("a", "locked");
    sandbox.shadow("r", ["release", "aos/a"]).exits(0);
    sandbox.assert_released("a");
}

#[test]
fn a_branch_without_a_worktree_comes_back_and_stays() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["branch", "aos/a"]);
    sandbox.age("a", 100);
    let log = fs::read_to_string(sandbox.path("r/.git/logs/refs/heads/aos/a")).unwrap();
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.shadow("r", ["undo", "aos/a"]).exits(0);
    assert_eq!(fs::read_to_string(sandbox.path("r/.git/logs/refs/heads/aos/a")).unwrap(), log);
    sandbox.assert_held("a", "locked");
    sandbox.shadow("r", ["release", "aos/a"]).exits(0);
    sandbox.assert_released("a");
}

#[test]
fn a_purged_registration_comes_back() {
    let sandbox = landed();
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    sandbox.age("a", 25);
    let log = fs::read_to_string(sandbox.path("r/.git/worktrees/a/logs/HEAD")).unwrap();
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.shadow("r", ["undo"]);
    assert!(sandbox.has_branch("aos/a"));
    assert_eq!(fs::read_to_string(sandbox.path("r/.git/worktrees/a/logs/HEAD")).unwrap(), log);
}

#[test]
fn one_shadow_of_several() {
    let sandbox = landed();
    let _ = sandbox.landed("b");
    sandbox.prune();
    sandbox.shadow("r", ["undo", "aos/b"]).exits(0);
    assert!(sandbox.path("b/f").exists() && sandbox.has_branch("aos/b"));
    sandbox.assert_released("a");
    sandbox.shadow("r", ["undo", "aos/a"]).exits(0);
    assert!(sandbox.path("a/dir/run").exists() && sandbox.has_branch("aos/a"));
}

#[test]
fn a_second_undo_changes_nothing() {
    let sandbox = landed();
    sandbox.prune();
    sandbox.shadow("r", ["undo"]).exits(0);
    sandbox.write("a/f", "worked on since\n");
    let before = state(&sandbox);
    let run = sandbox.shadow("r", ["undo"]);
    assert!(run.status <= 1, "{run:#?}");
    assert_eq!(before, state(&sandbox));
}

#[test]
fn a_path_that_is_taken_is_not_replaced() {
    let sandbox = landed();
    let tip = sandbox.git("r", ["rev-parse", "aos/a"]);
    sandbox.prune();
    sandbox.write("a/mine", "mine\n");
    let run = sandbox.shadow("r", ["undo"]);
    assert_eq!(run.status, 1, "{run:#?}");
    assert_eq!(sandbox.sh("a", "ls -A"), "mine");
    assert_eq!(sandbox.git("r", ["rev-parse", "refs/heads/aos/a"]), tip);
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    sandbox.shadow("r", ["undo"]);
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn a_branch_that_is_taken_is_not_replaced() {
    let sandbox = landed();
    sandbox.prune();
    sandbox.git("r", ["branch", "aos/a", "main~1"]);
    let taken = sandbox.git("r", ["rev-parse", "aos/a"]);
    let run = sandbox.shadow("r", ["undo"]);
    assert_eq!(run.status, 1, "{run:#?}");
    assert_eq!(sandbox.git("r", ["rev-parse", "aos/a"]), taken);
}

#[test]
fn an_id_that_is_taken_is_not_replaced() {
    let sandbox = landed();
    let tip = sandbox.git("r", ["rev-parse", "aos/a"]);
    sandbox.prune();
    sandbox.git("r", ["worktree", "add", "-q", "-b", "other", "../elsewhere/a"]);
    sandbox.write("elsewhere/a/mine", "mine\n");
    sandbox.shadow("r", ["undo"]);
    assert_eq!(sandbox.git("elsewhere/a", ["status", "--porcelain", "--branch"]), "## other\n?? mine");
    assert_eq!(sandbox.git("r", ["rev-parse", "refs/heads/aos/a"]), tip);
}

#[test]
fn files_that_policy_saves_come_back() {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", ".env\n");
    sandbox.commit("r", "ignore");
    let _ = sandbox.landed("a");
    sandbox.write("a/.env", "S=1\n");
    sandbox.write("a/.claude/settings.local.json", "{}\n");
    sandbox.assert_held("a", "ignored");
    let policy = "ignored.save = [\".env\"]\nuntracked.save = [\".claude/\"]\n";
    sandbox.write("home/.config/git-shadow/config.toml", policy);
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.git("r", ["gc", "-q", "--prune=now"]);
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(fs::read_to_string(sandbox.path("a/.env")).unwrap(), "S=1\n");
    assert_eq!(fs::read_to_string(sandbox.path("a/.claude/settings.local.json")).unwrap(), "{}\n");
}

#[test]
fn operations_of_one_second_are_taken_back_newest_first() {
    let sandbox = Sandbox::mk();
    let names = ["aos/a", "aos/b", "aos/c", "aos/d", "aos/e"];
    for name in names {
        sandbox.git("r", ["branch", name]);
    }
    for name in names {
        sandbox.shadow("r", ["release", name]).exits(0);
    }
    let log = sandbox.shadow("r", ["log", "--porcelain"]).exits(0).stdout;
    let logged: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix("shadow released ")).collect();
    assert!(logged.iter().rev().eq(&names), "{log}");
    for name in names.iter().rev() {
        let run = sandbox.shadow("r", ["undo"]).exits(0);
        assert!(run.stdout.starts_with(&format!("restored branch '{name}'")), "{name}: {run:#?}");
    }
}

#[test]
fn nothing_to_take_back_is_said() {
    let sandbox = Sandbox::mk();
    let before = sandbox.image();
    let run = sandbox.shadow("r", ["undo"]);
    assert!(run.status <= 1 && !run.stderr.is_empty(), "{run:#?}");
    assert_eq!(before.changes(&sandbox.image()), [""; 0]);
}
