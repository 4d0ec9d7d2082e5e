//! Killed at every step, then run again: everything converges, nothing is lost, nothing is left over.

use fs_err as fs;
use git_shadow::execute::failpoint::NAMES;

use crate::checker::Inventory;
use crate::harness::Sandbox;

/// One thing to release; what it is, is told by its name.
fn prepared(kind: &str) -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", "target/\n");
    sandbox.commit("r", "ignore");
    match kind {
        "worktree" => {
            sandbox.wt("a");
            sandbox.ci("a");
            sandbox.git("a", ["commit", "-q", "--amend", "-m", "rewritten"]);
            sandbox.write("a/target/deep/x.o", "object\n");
            sandbox.write("a/dir/sub/y", "y\n");
            sandbox.commit("a", "more");
            sandbox.squash("a");
        }
        "purged" => {
            let _ = sandbox.landed("a");
            fs::remove_dir_all(sandbox.path("a")).unwrap();
            sandbox.age("a", 100);
        }
        _ => {
            sandbox.sh("r", "git switch -qc aos/a; echo a>a; git add a; git commit -qm a; git switch -q main");
            sandbox.squash("a");
            sandbox.git("r", ["branch", "aos/b", "main"]);
            sandbox.age("b", 100);
        }
    }
    sandbox.git("r", ["config", "branch.aos/a.description", "of a"]);
    sandbox
}

/// What a release must not leave behind.
#[track_caller]
fn assert_no_leftovers(sandbox: &Sandbox, exclude: &[u8], context: &str) {
    let aside = sandbox.sh("", "find . -name '.*.shadow-*' -not -path './r/.git/shadow/*'");
    assert_eq!(aside, "", "{context}");
    assert_eq!(sandbox.git("r", ["worktree", "list"]).lines().count(), 1, "{context}");
    assert_eq!(fs::read(sandbox.path("r/.git/info/exclude")).unwrap_or_default(), exclude, "{context}");
    let locks = sandbox.sh("r", "find .git -name '*.lock'");
    assert_eq!(locks, "", "{context}");
    sandbox.git("r", ["fsck", "--strict"]);
}

fn killed_at_every_step(kind: &str) {
    let mut reached = Vec::new();
    for name in NAMES {
        let mut sandbox = prepared(kind);
        let exclude = fs::read(sandbox.path("r/.git/info/exclude")).unwrap_or_default();
        let before = Inventory::of(&sandbox, &["r"]);
        sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
        let run = sandbox.shadow("r", ["prune-sessions", "--yes", "--json"]);
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        if run.status == 0 {
            continue;
        }
        assert_eq!(run.status, -1, "{kind} {name}: {run:#?}");
        reached.push(*name);
        assert_eq!(before.lost(&sandbox), [""; 0], "{kind}: killed at {name}");

        let image = sandbox.image();
        sandbox.json(&["list"]).exits(0);
        sandbox.json(&["prune-sessions", "-n"]).exits(0);
        assert_eq!(image.changes(&sandbox.image()), [""; 0], "{kind}: reading after a kill at {name}");

        let again = sandbox.json(&["prune-sessions", "--yes"]);
        assert_eq!(again.status, 0, "{kind} {name}: {again:#?}");
        assert_eq!(before.lost(&sandbox), [""; 0], "{kind}: killed at {name} and run again");
        sandbox.assert_released("a");
        assert_no_leftovers(&sandbox, &exclude, &format!("{kind}: killed at {name} and run again"));

        let third = sandbox.json(&["prune-sessions", "--yes"]).exits(0).json();
        for nothing in ["release", "partial", "released", "raced", "failed", "pending"] {
            assert_eq!(third["summary"][nothing], 0, "{kind} {name}: {nothing}: {third:#}");
        }
    }
    assert!(reached.len() >= 6, "{kind}: only {reached:?}");
}

#[test]
fn a_worktree_and_its_branch() {
    killed_at_every_step("worktree");
}

#[test]
fn a_purged_registration() {
    killed_at_every_step("purged");
}

#[test]
fn branches_without_a_worktree() {
    killed_at_every_step("branches");
}

#[test]
fn killed_then_collected_then_run_again() {
    for name in ["pins", "marker", "renamed", "unlinked", "registration", "branch", "released", "deleted"] {
        let mut sandbox = prepared("worktree");
        let before = Inventory::of(&sandbox, &["r"]);
        sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
        assert_eq!(sandbox.shadow("r", ["prune-sessions", "--yes"]).status, -1, "{name}");
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        sandbox.git("r", ["-c", "gc.worktreePruneExpire=now", "gc", "-q", "--prune=now"]);
        sandbox.git("r", ["worktree", "prune", "--expire", "now"]);
        assert_eq!(before.lost(&sandbox), [""; 0], "{name}");
        sandbox.json(&["prune-sessions", "--yes"]).exits(0);
        assert_eq!(before.lost(&sandbox), [""; 0], "{name}, run again");
        sandbox.assert_released("a");
    }
}

#[test]
fn killed_then_taken_back() {
    for name in ["renamed", "registration", "released", "deleted"] {
        let mut sandbox = prepared("worktree");
        let tip = sandbox.git("r", ["rev-parse", "aos/a"]);
        sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
        assert_eq!(sandbox.shadow("r", ["prune-sessions", "--yes"]).status, -1, "{name}");
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        sandbox.shadow("r", ["undo"]);
        sandbox.json(&["prune-sessions", "--yes"]).exits(0);
        if sandbox.has_branch("aos/a") {
            assert_eq!(sandbox.git("r", ["rev-parse", "aos/a"]), tip, "{name}");
            assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "", "{name}");
        } else {
            sandbox.shadow("r", ["undo"]).exits(0);
            assert_eq!(sandbox.git("r", ["rev-parse", "aos/a"]), tip, "{name}");
            assert!(sandbox.path("a/dir/sub/y").exists(), "{name}");
        }
    }
}

#[test]
fn git_drops_a_purged_registration_before_our_lock_is_on_it() {
    for name in ["saved", "pins"] {
        let mut sandbox = prepared("purged");
        let before = Inventory::of(&sandbox, &["r"]);
        sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
        assert_eq!(sandbox.shadow("r", ["prune-sessions", "--yes"]).status, -1, "{name}");
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        sandbox.git("r", ["worktree", "prune", "--expire", "now"]);
        let run = sandbox.prune();
        assert_eq!(run.json()["summary"]["failed"], 0, "{name}: {run:#?}");
        assert!(!sandbox.has_branch("aos/a"), "{name}");
        if name == "pins" {
            assert_eq!(before.lost(&sandbox), [""; 0], "{name}");
        }
    }
}

#[test]
fn a_branch_made_again_has_not_its_reflog() {
    let mut sandbox = Sandbox::mk();
    sandbox.git("r", ["branch", "aos/a"]);
    let once = sandbox.git("r", ["commit-tree", "-p", "main", "-m", "once", "main^{tree}"]);
    sandbox.git("r", ["update-ref", "-m", "reset: there", "refs/heads/aos/a", once.as_str()]);
    sandbox.git("r", ["update-ref", "-m", "reset: back", "refs/heads/aos/a", "main"]);
    sandbox.age("a", 100);
    sandbox.set("GIT_SHADOW_FAILPOINT", "branch=kill");
    assert_eq!(sandbox.shadow("r", ["prune-sessions", "--yes"]).status, -1);
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    assert!(!sandbox.has_branch("aos/a"));
    sandbox.git("r", ["branch", "aos/a", "main"]);
    sandbox.prune();
    sandbox.git("r", ["gc", "-q", "--prune=now"]);
    assert!(sandbox.git_ok("r", ["cat-file", "-e", once.as_str()]), "what only the old reflog reached is lost");
}
