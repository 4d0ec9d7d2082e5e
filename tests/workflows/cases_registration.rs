//! What a registration holds beside the worktree: locks, operations, private refs, detached commits, other branches.

use fs_err as fs;
use serde_json::Value;

use crate::checker::Inventory;
use crate::harness::{Run, Sandbox, codes};

#[track_caller]
fn by_id(run: &Run, id: &str) -> Value {
    let found = run.shadows().into_iter().find(|s| s["worktree"]["id"] == id);
    found.unwrap_or_else(|| panic!("no registration '{id}': {}", run.stdout))
}

/// A detached worktree in the sessions folder.
fn detached() -> Sandbox {
    let mut sandbox = Sandbox::mk();
    sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("sessions").to_str().unwrap());
    sandbox.git("r", ["worktree", "add", "-q", "--detach", "../sessions/d"]);
    sandbox
}

#[test]
fn c07_a_detached_head_with_commits_that_no_ref_reaches() {
    let sandbox = detached();
    sandbox.ci("sessions/d");
    sandbox.age("d", 1000);
    assert!(codes(&by_id(&sandbox.json(&["list"]), "d")).contains(&"unpushed".to_owned()));
    sandbox.prune();
    assert!(sandbox.path("sessions/d/f").exists());
    assert!(sandbox.path("r/.git/worktrees/d").exists());
}

#[test]
fn c07_a_detached_head_in_a_base_goes() {
    let sandbox = detached();
    sandbox.age("d", 1000);
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.prune();
    assert!(!sandbox.path("sessions/d").exists());
    assert!(!sandbox.path("r/.git/worktrees/d").exists());
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn c07_a_detached_head_on_a_kept_branch_is_that_branch_s_matter() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("a", ["checkout", "-q", "--detach"]);
    sandbox.ci("a");
    sandbox.age("a", 1000);
    sandbox.prune();
    assert!(sandbox.path("a/f").exists());
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn c13_a_session_that_was_resumed_and_did_nothing_keeps_its_work() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("a", ["checkout", "-q", "-B", "aos/a", "HEAD"]);
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "unpushed");
}

#[test]
fn c02_two_of_them_are_judged_one_by_one() {
    let sandbox = Sandbox::mk();
    for x in ["a", "b"] {
        sandbox.wt(x);
        sandbox.ci(x);
        sandbox.age(x, 1000);
    }
    let _ = sandbox.landed("c");
    let list = sandbox.json(&["list"]);
    for name in ["aos/a", "aos/b"] {
        let shadow = list.shadow(name);
        assert_eq!(shadow["branch"]["unpushed"], 1, "{shadow:#}");
        assert!(codes(&shadow).iter().all(|code| code == "unpushed"), "{shadow:#}");
    }
    sandbox.assert_kept("a");
    sandbox.assert_held("b", "unpushed");
    sandbox.assert_released("c");
}

#[test]
fn c41_locks_by_hand_hold_and_hold_nobody_else() {
    let sandbox = Sandbox::mk();
    for x in ["silent", "said", "free"] {
        let _ = sandbox.landed(x);
    }
    sandbox.git("r", ["worktree", "lock", "../silent"]);
    sandbox.git("r", ["worktree", "lock", "--reason", "do not touch\nat all", "../said"]);
    let said = sandbox.shadow_json("aos/said");
    assert!(said["holds"][0]["message"].as_str().unwrap().contains("do not touch"), "{said:#}");
    sandbox.assert_held("silent", "locked");
    sandbox.assert_held("said", "locked");
    sandbox.assert_released("free");
}

#[test]
fn c38_a_lock_that_names_a_dead_process_holds_in_a_sweep() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let reason = "claude agent x (pid 4194000 start Fri Jun 19 21:37:40 2026)";
    sandbox.git("r", ["worktree", "lock", "--reason", reason, "../a"]);
    sandbox.assert_held("a", "locked");
}

#[test]
fn c37_a_worktree_that_git_is_still_making() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["worktree", "add", "-q", "--no-checkout", "-b", "aos/n", "../n"]);
    sandbox.git("r", ["worktree", "lock", "--reason", "initializing", "../n"]);
    sandbox.age("n", 1000);
    sandbox.assert_held("n", "initializing");
}

#[test]
fn c37_an_add_that_was_killed() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["worktree", "add", "-q", "--no-checkout", "-b", "aos/n", "../n"]);
    sandbox.age("n", 1000);
    sandbox.assert_held("n", "dirty");
}

#[test]
fn operations_in_progress() {
    let operations = [
        ("rebase", "GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD~1"),
        ("merge", "git merge -q --no-commit --no-ff side"),
        ("cherry-pick", "git cherry-pick conflict >/dev/null 2>&1 || true"),
        ("revert", "git revert --no-commit HEAD"),
        ("bisect", "git bisect start -q HEAD HEAD~1 >/dev/null"),
        ("am", "git format-patch -q -1 --stdout conflict | git am -q 2>/dev/null || true"),
        ("index.lock", "touch \"$(git rev-parse --git-dir)/index.lock\""),
        ("HEAD.lock", "touch \"$(git rev-parse --git-dir)/HEAD.lock\""),
    ];
    for (name, script) in operations {
        let sandbox = Sandbox::mk();
        sandbox.sh("r", "git switch -qc side; echo s>s; git add s; git commit -qm side; git switch -q main");
        sandbox
            .sh("r", "git switch -qc conflict; echo c>a.txt; git add .; git commit -qm conflict; git switch -q main");
        sandbox.wt("a");
        sandbox.ci("a");
        sandbox.ci("a");
        sandbox.squash("a");
        sandbox.sh("a", script);
        let name_of = sandbox.json(&["list"]);
        let shadow = by_id(&name_of, "a");
        assert!(codes(&shadow).contains(&"operation".to_owned()), "{name}: {shadow:#}");
        let before = crate::harness::Tree::of(&sandbox.path("a"));
        sandbox.prune();
        assert_eq!(before.changes(&crate::harness::Tree::of(&sandbox.path("a"))), [""; 0], "{name}");
        assert!(sandbox.has_branch("aos/a"), "{name}");
    }
}

#[test]
fn private_refs_that_keep_something() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let private = sandbox.git("a", ["commit-tree", "-m", "private", "HEAD^{tree}"]);
    sandbox.git("a", ["update-ref", "refs/worktree/x", &private]);
    sandbox.assert_held("a", "worktree-refs");
    sandbox.git("a", ["update-ref", "refs/worktree/x", "main"]);
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn c21_the_user_switched_the_worktree_to_a_branch_of_their_own() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.sh("a", "git switch -qc keep; echo k>k; git add k; git commit -qm keep");
    sandbox.age("a", 1000);
    let foreign = sandbox.json(&["list", "--all"]).shadow("keep");
    assert_eq!(foreign["verdict"], "foreign", "{foreign:#}");
    sandbox.prune();
    assert!(sandbox.path("a/k").exists() && sandbox.has_branch("keep"));
    assert!(!sandbox.has_branch("aos/a"), "judged by itself: unused and idle");
}

#[test]
fn c20_a_worktree_of_the_user_s_is_foreign_wherever_it_lies() {
    let mut sandbox = Sandbox::mk();
    sandbox.write("r/.git/info/exclude", ".claude/\n");
    sandbox.git("r", ["worktree", "add", "-q", "-b", "feature/mine", ".claude/worktrees/mine"]);
    sandbox.age("mine", 1000);
    assert!(sandbox.json(&["list"]).shadows().is_empty());
    sandbox.prune();
    assert!(sandbox.path("r/.claude/worktrees/mine/f").exists() && sandbox.has_branch("feature/mine"));
    // In the sessions folder the worktree may go, its branch is still theirs.
    sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("r/.claude/worktrees").to_str().unwrap());
    sandbox.prune();
    assert!(sandbox.has_branch("feature/mine"));
}

#[test]
fn c23_a_branch_that_a_second_worktree_has() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.git("r", ["worktree", "add", "-qf", "../a2", "aos/a"]);
    sandbox.write("a2/note", "only here\n");
    sandbox.prune();
    assert!(sandbox.has_branch("aos/a"));
    assert!(sandbox.path("a2/note").exists() && sandbox.path("r/.git/worktrees/a2").exists());
    assert_eq!(sandbox.git("a2", ["status", "--porcelain"]), "?? note");
    let kept = by_id(&sandbox.json(&["list"]), "a2");
    assert_eq!(kept["verdict"], "held", "{kept:#}");
    assert!(!sandbox.path("a").exists(), "nothing of the first one's worktree was held");
    assert!(sandbox.holds("aos/a").contains(&"untracked".to_owned()), "the branch is the second one's now");
}

#[test]
fn c15_the_main_worktree_is_never_a_candidate() {
    let sandbox = Sandbox::mk();
    sandbox.sh("r", "git switch -qc aos/x; echo w>w; git add w; git commit -qm w; git branch -f main HEAD");
    let log = sandbox.path("r/.git/logs/refs/heads/aos/x");
    sandbox.age_log(&log, 1000);
    let shadow = sandbox.shadow_json("aos/x");
    assert!(codes(&shadow).contains(&"checked-out".to_owned()), "{shadow:#}");
    sandbox.prune();
    assert_eq!(sandbox.git("r", ["status", "--porcelain", "--branch"]), "## aos/x");
}

#[test]
fn c15_in_a_bare_layout_the_worktree_named_after_the_base_is_protected() {
    let sandbox = Sandbox::mk();
    sandbox.git("", ["clone", "-q", "--bare", "r", "bare.git"]);
    sandbox.git("bare.git", ["worktree", "add", "-q", "-b", "aos/x", "../main", "main"]);
    sandbox.ci("main");
    sandbox.git("bare.git", ["branch", "-f", "main", "aos/x"]);
    let shadow = by_id(&sandbox.shadow("bare.git", ["list", "--json"]), "main");
    assert!(codes(&shadow).contains(&"protected".to_owned()), "{shadow:#}");
    sandbox.shadow("bare.git", ["prune-sessions", "--yes"]).exits(0);
    assert!(sandbox.path("main/main.txt").exists());
    assert_eq!(sandbox.git("main", ["status", "--porcelain", "--branch"]), "## aos/x");
}

#[test]
fn c33_stashes_stay_and_do_not_hold() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.write("a/f", "stashed\n");
    sandbox.git("a", ["stash", "-q"]);
    sandbox.ci("a");
    let _ = sandbox.squash("a");
    let before = (sandbox.git("r", ["stash", "list"]), Inventory::of(&sandbox, &["r"]));
    sandbox.prune();
    sandbox.assert_released("a");
    assert_eq!(sandbox.git("r", ["stash", "list"]), before.0);
    assert_eq!(sandbox.git("r", ["show", "stash@{0}:f"]), "stashed");
    assert_eq!(before.1.lost(&sandbox), [""; 0]);
}

#[test]
fn a_registration_that_cannot_be_read_holds_itself_only() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let _ = sandbox.landed("b");
    fs::write(sandbox.path("r/.git/worktrees/a/HEAD"), "garbage\n").unwrap();
    sandbox.prune();
    sandbox.assert_released("b");
    assert!(sandbox.path("a/f").exists() && sandbox.has_branch("aos/a"));
    assert!(sandbox.path("r/.git/worktrees/a/HEAD").exists());
}
