//! Whole runs: dry ones, large ones, ones with a shadow that fails, odd names, busy files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use fs_err as fs;
use serde_json::Value;

use crate::checker::Inventory;
use crate::harness::{Sandbox, codes};

/// One shadow of each of many kinds.
fn motley() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", ".env\ntarget/\n");
    sandbox.commit("r", "ignore");
    sandbox.origin();
    for x in ["clean", "dirty", "untracked", "secret", "built", "locked", "purged"] {
        let _ = sandbox.landed(x);
    }
    sandbox.write("dirty/f", "edit\n");
    sandbox.write("untracked/n", "new\n");
    sandbox.write("secret/.env", "S=1\n");
    sandbox.write("built/target/x.o", "x\n");
    sandbox.git("r", ["worktree", "lock", "../locked"]);
    fs::remove_dir_all(sandbox.path("purged")).unwrap();
    sandbox.wt("unpushed");
    sandbox.ci("unpushed");
    sandbox.wt("pushed");
    sandbox.ci("pushed");
    sandbox.git("pushed", ["push", "-qu", "origin", "HEAD"]);
    sandbox.wt("idle");
    sandbox.git("r", ["branch", "aos/left-over", "main~1"]);
    for x in ["purged", "unpushed", "pushed", "idle", "left-over"] {
        sandbox.age(x, 100);
    }
    sandbox.wt("new");
    sandbox
}

/// What must be the same in every run: verdicts, holds and which steps there are.
fn shape(shadows: &[Value]) -> Vec<Value> {
    let of = |s: &Value| {
        let steps = s["steps"].as_array().unwrap();
        let kinds: Vec<_> = steps.iter().map(|step| step["step"].clone()).collect();
        serde_json::json!([
            s["name"],
            s["verdict"],
            s["because"],
            s["branch"]["verdict"],
            s["worktree"]["verdict"],
            codes(s),
            kinds
        ])
    };
    shadows.iter().map(of).collect()
}

#[test]
fn c95_a_dry_run_is_the_real_run_but_for_what_it_does() {
    let sandbox = motley();
    let list = sandbox.json(&["list"]).exits(0);
    let dry = sandbox.json(&["prune-sessions", "-n"]).exits(0);
    let real = sandbox.json(&["prune-sessions", "--yes"]).exits(0);
    assert_eq!(shape(&dry.shadows()), shape(&real.shadows()));
    assert_eq!(shape(&dry.shadows()), shape(&list.shadows()));
    let outcomes = |shadows: Vec<Value>| -> Vec<Value> {
        let steps = shadows.iter().flat_map(|s| s["steps"].as_array().unwrap().clone());
        steps.map(|step| step["outcome"].clone()).collect()
    };
    assert!(outcomes(dry.shadows()).iter().all(|o| o == "would"), "{dry:#?}");
    assert!(outcomes(real.shadows()).iter().all(|o| o == "done"), "{real:#?}");
    assert_eq!(dry.json()["operation"], Value::Null);
    assert!(real.json()["operation"].is_string());
    for x in ["clean", "built", "purged", "idle", "left-over"] {
        sandbox.assert_released(x);
    }
    assert!(!sandbox.path("pushed").exists() && sandbox.has_branch("aos/pushed"));
}

#[test]
fn c95_commands_that_only_read_change_no_byte_and_no_time() {
    reading_changes_nothing(&motley());
}

#[test]
fn c95_nor_do_they_where_all_objects_are_packed() {
    let sandbox = motley();
    sandbox.git("r", ["gc", "-q"]);
    reading_changes_nothing(&sandbox);
}

fn reading_changes_nothing(sandbox: &Sandbox) {
    let before = sandbox.image();
    for args in [
        &["list"][..],
        &["list", "--all"],
        &["explain", "aos/clean"],
        &["explain", "aos/dirty"],
        &["prune-sessions", "-n"],
        &["prune-sessions"],
        &["log"],
    ] {
        let run = sandbox.shadow("r", args);
        assert_eq!(run.status, 0, "{args:?}: {run:#?}");
        assert_eq!(before.changes(&sandbox.image()), [""; 0], "{args:?}");
    }
}

#[test]
fn without_a_terminal_and_without_yes_it_is_a_dry_run_and_says_so() {
    let sandbox = motley();
    let run = sandbox.shadow("r", ["prune-sessions"]).exits(0);
    assert!(sandbox.path("clean/f").exists());
    assert!(run.stderr.contains("nothing was changed") && run.stderr.contains("--yes"), "{run:#?}");
}

#[test]
fn a_motley_run_loses_nothing_and_a_second_one_finds_nothing() {
    let sandbox = motley();
    let before = Inventory::of(&sandbox, &["r", "o.git"]);
    let _ = sandbox.prune();
    assert_eq!(before.lost(&sandbox), [""; 0]);
    let again = sandbox.prune().json();
    for nothing in ["release", "partial", "released", "raced", "failed", "pending"] {
        assert_eq!(again["summary"][nothing], 0, "{nothing}: {again:#}");
    }
}

#[test]
fn c99_one_that_is_locked_stops_nobody() {
    let sandbox = Sandbox::mk();
    for x in ["a", "b", "c"] {
        let _ = sandbox.landed(x);
    }
    sandbox.git("r", ["worktree", "lock", "../a"]);
    let run = sandbox.prune();
    let summary = &run.json()["summary"];
    assert_eq!((&summary["released"], &summary["held"]), (&2.into(), &1.into()), "{summary}");
    sandbox.assert_held("a", "locked");
    sandbox.assert_released("b");
    sandbox.assert_released("c");
}

#[test]
fn c100_the_answer_has_tip_base_evidence_and_post_state() {
    let sandbox = motley();
    let run = sandbox.prune();
    let json = run.json();
    assert_eq!(json["schema"], "git-shadow.report.v1");
    let clean = run.shadow("aos/clean");
    assert_eq!(clean["branch"]["ref"], "refs/heads/aos/clean");
    assert_eq!(clean["branch"]["landed"]["how"], "squash");
    assert!(clean["branch"]["tip"].as_str().unwrap().len() == 40);
    let steps: Vec<_> = clean["steps"].as_array().unwrap().iter().map(|s| s["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["move-worktree", "drop-registration", "delete-branch", "delete-files"]);
    assert_eq!(json["repositories"][0]["bases"][0]["oid"].as_str().unwrap().len(), 40);
    let counts = ["release", "partial", "held", "foreign"].map(|k| json["summary"][k].as_u64().unwrap());
    assert_eq!(counts.iter().sum::<u64>(), json["summary"]["shadows"].as_u64().unwrap() + counts[3]);
}

#[test]
fn c66_two_thousand_branches_go_in_one_transaction() {
    let sandbox = Sandbox::mk();
    let base = sandbox.git("r", ["rev-parse", "main"]);
    let tree = sandbox.git("r", ["rev-parse", "main^{tree}"]);
    let loose = sandbox.git("r", ["commit-tree", "-m", "not landed", "-p", &base, &tree]);
    let create = |n: u32| format!("create refs/heads/aos/n{n} {}\n", if n < 1900 { &base } else { &loose });
    sandbox.write("refs", (0..2000).map(create).collect::<String>());
    sandbox.sh("r", "git update-ref --stdin <../refs");
    let sections = (0..100).map(|n| format!("[branch \"aos/n{n}\"]\n\tremote = .\n\tmerge = refs/heads/main\n"));
    let config = fs::read_to_string(sandbox.path("r/.git/config")).unwrap();
    sandbox.write("r/.git/config", format!("{config}{}", sections.collect::<String>()));
    sandbox.sh("r", "sed -i 's/> [0-9]* /> 1600000000 /' .git/logs/refs/heads/aos/*; git pack-refs --all");
    let before = Inventory::of(&sandbox, &["r"]);
    let start = std::time::Instant::now();
    let run = sandbox.prune();
    let took = start.elapsed().as_secs();
    assert_eq!(run.json()["summary"]["released"], 1900);
    assert_eq!(sandbox.git("r", ["for-each-ref", "--format=x", "refs/heads/aos"]).lines().count(), 100);
    assert!(!sandbox.git_ok("r", ["config", "--get-regexp", "^branch\\."]));
    assert!(took < 20, "it took {took} s");
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn c93_registrations_go_and_not_only_directories() {
    let sandbox = Sandbox::mk();
    sandbox.sh("r", "for n in $(seq 60); do git worktree add -q -b aos/n$n ../n$n; done");
    for n in 1..=60 {
        sandbox.age(&format!("n{n}"), 48);
    }
    let _ = sandbox.prune();
    let left = fs::read_dir(sandbox.path("r/.git/worktrees")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
    assert_eq!(sandbox.git("r", ["worktree", "list"]).lines().count(), 1);
}

#[test]
fn c77_case_twins_are_two_shadows() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/Feature", "../Feature"]);
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/feature", "../feature"]);
    sandbox.ci("Feature");
    sandbox.ci("feature");
    sandbox.squash("Feature");
    sandbox.age("feature", 1000);
    sandbox.assert_held("feature", "unpushed");
    sandbox.assert_released("Feature");
}

#[test]
fn c79_names_are_bytes() {
    let sandbox = Sandbox::mk();
    let path = OsStr::from_bytes(b"../w\xff");
    sandbox.git(
        "r",
        [OsStr::new("worktree"), OsStr::new("add"), OsStr::new("-q"), OsStr::new("-b"), OsStr::new("aos/b"), path],
    );
    let branch = OsStr::from_bytes(b"aos/c\xfe");
    sandbox.git("r", [OsStr::new("branch"), branch, OsStr::new("main")]);
    sandbox.sh("r", "sed -i 's/> [0-9]* /> 1600000000 /' .git/logs/refs/heads/aos/*");
    let dir = sandbox.root().join(OsStr::from_bytes(b"w\xff"));
    fs::write(dir.join("b.txt"), "b\n").unwrap();
    sandbox.git(&dir, ["add", "-A"]);
    sandbox.git(&dir, ["commit", "-qm", "b"]);
    sandbox.squash("b");
    let run = sandbox.json(&["list"]);
    let shadow = run.shadow("aos/b");
    let hex = shadow["worktree"]["path_hex"].as_str().unwrap_or_else(|| panic!("{shadow:#}"));
    assert!(hex.ends_with("77ff"), "{hex}");
    let _ = sandbox.prune();
    assert!(!dir.exists() && !sandbox.has_branch("aos/b"));
    assert_eq!(sandbox.git("r", ["for-each-ref", "--format=x", "refs/heads/aos"]), "");
}

#[test]
fn names_that_would_move_the_terminal_s_cursor_do_not() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.write("a/\u{1b}[2Jx\ny", "odd\n");
    let run = sandbox.shadow("r", ["explain", "aos/a"]).exits(0);
    assert!(!run.stdout.contains("\u{1b}[2J"), "{run:#?}");
    sandbox.assert_held("a", "untracked");
}

#[test]
fn c45_a_busy_config_does_not_keep_the_branch() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.git("r", ["config", "branch.aos/a.description", "of a"]);
    sandbox.write("r/.git/config.lock", "");
    let run = sandbox.shadow("r", ["prune-sessions", "--yes", "--json"]);
    assert!(!sandbox.has_branch("aos/a"), "{run:#?}");
    assert!(sandbox.git_ok("r", ["config", "branch.aos/a.description"]));
    fs::remove_file(sandbox.path("r/.git/config.lock")).unwrap();
    let _ = sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn a_branch_that_git_is_changing_is_held_and_nobody_else() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let _ = sandbox.landed("b");
    sandbox.write("r/.git/refs/heads/aos/a.lock", "");
    sandbox.assert_held("a", "operation");
    sandbox.assert_released("b");
    fs::remove_file(sandbox.path("r/.git/refs/heads/aos/a.lock")).unwrap();
    let _ = sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn a_branch_without_a_worktree_that_is_symbolic_is_kept() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["symbolic-ref", "refs/heads/aos/s", "refs/heads/main"]);
    sandbox.assert_held("s", "symref");
    assert_eq!(sandbox.git("r", ["symbolic-ref", "refs/heads/aos/s"]), "refs/heads/main");
    assert!(sandbox.has_branch("main"));
}
