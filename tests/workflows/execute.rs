//! Releases that meet something unexpected between their steps: put back whole, or finished.

use fs_err as fs;

use crate::checker::Inventory;
use crate::harness::{Run, Sandbox};
use crate::image::Tree;

/// A run in which `script` runs in the sandbox's folder when `name` is passed.
fn run_with(sandbox: &mut Sandbox, name: &str, script: &str, args: &[&str]) -> Run {
    let root = sandbox.root().display().to_string();
    sandbox.write("script", format!("cd '{root}' || exit\n{script}\n"));
    sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=run:bash '{root}/script' >'{root}/said' 2>&1"));
    let run = sandbox.json(args);
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    run
}

fn prune_with(sandbox: &mut Sandbox, name: &str, script: &str) -> Run {
    run_with(sandbox, name, script, &["prune-sessions", "--yes"])
}

/// The step of a shadow that did not end as wished.
#[track_caller]
fn stopped(run: &Run, name: &str) -> (String, String) {
    let shadow = run.shadow(name);
    let step = shadow["steps"].as_array().unwrap().iter().find(|s| s["outcome"] != "done").cloned();
    let step = step.unwrap_or_else(|| panic!("all steps of {name} were done: {shadow:#}"));
    (step["outcome"].as_str().unwrap().to_owned(), step["detail"].to_string())
}

/// `aos/a` is as before a run that could not go through with it.
#[track_caller]
fn assert_put_back(before: &(Tree, Tree), sandbox: &Sandbox) {
    let now = both(sandbox);
    assert_eq!(before.0.changes(&now.0), [""; 0], "the worktree");
    assert_eq!(before.1.changes(&now.1), [""; 0], "the registration");
    assert_eq!(sandbox.sh("", "find . -maxdepth 1 -name '.*.shadow-*'"), "");
    assert_eq!(sandbox.git("r", ["for-each-ref", "refs/shadow"]), "", "no pin is left");
}

fn both(sandbox: &Sandbox) -> (Tree, Tree) {
    let mut admin = Tree::of(&sandbox.path("r/.git/worktrees/a"));
    // A directory's own time tells that our lock came and went.
    admin.0.remove(std::path::Path::new(""));
    (Tree::of(&sandbox.path("a")), admin)
}

#[test]
fn a_base_that_only_moves_on_is_followed() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    prune_with(&mut sandbox, "registration", "git -C r commit -q --allow-empty -m more").exits(0);
    sandbox.assert_released("a");
}

#[test]
fn a_base_that_is_rewritten_reverses_the_release() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let before = both(&sandbox);
    let run = prune_with(&mut sandbox, "registration", "git -C r reset -q --hard HEAD~1").exits(2);
    let (outcome, detail) = stopped(&run, "aos/a");
    assert_eq!(outcome, "raced");
    assert!(detail.contains("'main' was rewritten"), "{detail}");
    assert_put_back(&before, &sandbox);
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn a_branch_that_someone_checks_out_meanwhile_stays() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let before = both(&sandbox);
    let run = prune_with(&mut sandbox, "registration", "git -C r worktree add -q -f ../x aos/a").exits(2);
    let (outcome, detail) = stopped(&run, "aos/a");
    assert_eq!(outcome, "raced");
    assert!(detail.contains("checked out at"), "{detail}");
    assert_put_back(&before, &sandbox);
    assert_eq!(sandbox.git("x", ["status", "--porcelain", "--branch"]), "## aos/a");
}

#[test]
fn a_branch_that_the_main_worktree_checks_out_meanwhile_stays() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let before = both(&sandbox);
    let script = "git -C r symbolic-ref HEAD refs/heads/aos/a";
    let run = prune_with(&mut sandbox, "registration", script).exits(2);
    assert_eq!(stopped(&run, "aos/a").0, "raced");
    assert!(sandbox.has_branch("aos/a"));
    assert_put_back(&before, &sandbox);
}

#[test]
fn a_reversal_brings_back_the_lock_that_the_release_passed() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.prune();
    sandbox.shadow("r", ["undo"]).exits(0);
    let lock = fs::read(sandbox.path("r/.git/worktrees/a/locked")).unwrap();
    assert!(lock.starts_with(b"git-shadow undo "));
    for name in ["marker", "checked"] {
        let script = "(cd a 2>/dev/null || cd .a.shadow-*; echo late >late); \
                      git -C r reset -q --soft HEAD~1";
        let run = run_with(&mut sandbox, name, script, &["release", "aos/a"]);
        assert_eq!(stopped(&run, "aos/a").0, "raced", "{name}: {run:#?}");
        assert_eq!(fs::read(sandbox.path("r/.git/worktrees/a/locked")).unwrap(), lock, "{name}");
        fs::remove_file(sandbox.path("a/late")).unwrap();
        sandbox.git("r", ["reset", "-q", "--soft", "ORIG_HEAD"]);
    }
}

#[test]
fn a_tree_set_aside_in_a_checkout_is_hidden_from_its_status() {
    let mut sandbox = Sandbox::mk();
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/a", "trees/a b*"]);
    sandbox.sh("r/trees/a b*", "echo a >a; git add a; git commit -qm a");
    sandbox.write("r/.git/info/exclude", "/trees/a b?\nno newline");
    let _ = sandbox.squash("a");
    let exclude = fs::read(sandbox.path("r/.git/info/exclude")).unwrap();
    for name in ["renamed", "branch"] {
        let script = "ls -A r/trees; git -C r status --porcelain --untracked-files=all";
        prune_with(&mut sandbox, name, script).exits(0);
        let said = fs::read_to_string(sandbox.path("said")).unwrap();
        assert!(said.starts_with(".a b*.shadow-"), "{said}");
        assert_eq!(said.lines().count(), 1, "status shows it: {said}");
        assert_eq!(fs::read(sandbox.path("r/.git/info/exclude")).unwrap(), exclude);
        sandbox.shadow("r", ["undo"]).exits(0);
        sandbox.git("r", ["worktree", "unlock", "trees/a b*"]);
    }
}

#[test]
fn a_registration_that_is_taken_over_is_left_to_its_new_owner() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let before = Inventory::of(&sandbox, &["r"]);
    let script = "git -C r worktree add -q -f -f ../a aos/a && echo mine >a/mine";
    let run = prune_with(&mut sandbox, "checked", script).exits(2);
    let (outcome, detail) = stopped(&run, "aos/a");
    assert_eq!(outcome, "raced");
    assert!(detail.contains("taken away") && detail.contains(".a.shadow-"), "{detail}");
    assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a\n?? mine");
    assert!(sandbox.sh("", "ls -d .a.shadow-*/a.txt").ends_with("a.txt"), "the old tree waits");
    assert_eq!(before.lost(&sandbox), [""; 0]);
    let log = sandbox.shadow("r", ["log", "--json"]).exits(0).json();
    assert_eq!(log["operations"][0]["shadows"][0]["state"], "stuck", "{log:#}");
    sandbox.json(&["prune-sessions", "--yes"]).exits(0);
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn a_registration_that_is_dropped_meanwhile_comes_back_from_its_copy() {
    for name in ["renamed", "checked"] {
        let mut sandbox = Sandbox::mk();
        let _ = sandbox.landed("a");
        let script =
            "git -C r worktree unlock ../a && git -C r worktree prune --expire now && ! test -e r/.git/worktrees";
        let run = prune_with(&mut sandbox, name, &format!("{{ {script}; }} && touch dropped")).exits(2);
        assert!(sandbox.path("dropped").exists(), "{name}: {}", fs::read_to_string(sandbox.path("said")).unwrap());
        assert_eq!(stopped(&run, "aos/a").0, "raced");
        assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a", "{name}");
    }
}

#[test]
fn what_comes_into_a_tree_past_the_commit_point_stays_and_is_told() {
    let mut sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.write("a/sub/kept", "kept\n");
    sandbox.write("a/sub/gone", "gone\n");
    sandbox.ci("a");
    let _ = sandbox.squash("a");
    let script = "cd .a.shadow-* && echo edit >>sub/kept && echo new >sub/new";
    let run = prune_with(&mut sandbox, "branch", script).exits(0);
    sandbox.assert_released("a");
    assert_eq!(sandbox.sh("", "cd .a.shadow-* && find . -type f | sort"), "./sub/kept\n./sub/new");
    let steps = run.shadow("aos/a")["steps"].to_string();
    assert!(steps.contains("sub/new") && steps.contains(".a.shadow-"), "{steps}");
    sandbox.json(&["prune-sessions", "--yes"]).exits(0);
    assert_eq!(sandbox.sh("", "cd .a.shadow-* && cat sub/new"), "new");
}

#[test]
fn branches_of_a_batch_that_are_refused_do_not_keep_the_others() {
    let mut sandbox = Sandbox::mk();
    for x in ["a", "b", "c"] {
        sandbox.git("r", ["branch", &format!("aos/{x}")]);
        sandbox.age(x, 100);
    }
    let script = "cd r; git update-ref refs/heads/aos/a $(git commit-tree -p aos/a -m late aos/a^{tree}); \
                  touch .git/refs/heads/aos/b.lock";
    let run = prune_with(&mut sandbox, "pins", script).exits(2);
    assert_eq!(stopped(&run, "aos/a").0, "raced");
    assert_eq!(stopped(&run, "aos/b").0, "failed");
    assert_eq!(
        [sandbox.has_branch("aos/a"), sandbox.has_branch("aos/b"), sandbox.has_branch("aos/c")],
        [true, true, false]
    );
    fs::remove_file(sandbox.path("r/.git/refs/heads/aos/b.lock")).unwrap();
    sandbox.json(&["prune-sessions", "--yes"]).exits(0);
    assert!(!sandbox.has_branch("aos/b"));
    sandbox.shadow("r", ["undo", "aos/c"]).exits(0);
    assert!(sandbox.has_branch("aos/c") && !sandbox.has_branch("aos/b"));
}

#[test]
fn a_branch_with_two_worktrees_goes_with_the_last_of_them() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("r", ["worktree", "add", "-q", "-f", "../b", "aos/a"]);
    let _ = sandbox.squash("a");
    sandbox.age("b", 48);
    sandbox.prune();
    sandbox.assert_released("a");
    assert!(!sandbox.path("b").exists() && !sandbox.path("r/.git/worktrees").exists());
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "");
    assert_eq!(sandbox.git("b", ["status", "--porcelain"]), "");
}

#[test]
fn a_long_history_of_amends_is_kept_by_few_pins() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.sh("a", "for n in $(seq 40); do git commit -q --amend -m \"try $n\"; done");
    let _ = sandbox.squash("a");
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.prune();
    sandbox.assert_released("a");
    let pins = sandbox.git("r", ["for-each-ref", "--format=%(refname:lstrip=5)", "refs/shadow"]);
    assert_eq!(pins.lines().collect::<Vec<_>>(), ["head", "reflog-0", "tip"]);
    assert_eq!(before.lost(&sandbox), [""; 0]);
    sandbox.sh("r", "git reflog expire --expire=all --all; git gc -q --prune=now; git fsck --strict");
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn an_object_that_a_reflog_names_and_that_is_gone_is_recorded() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let (zero, gone) = ("0".repeat(40), "1".repeat(40));
    let log = sandbox.path("r/.git/logs/refs/heads/aos/a");
    let line = format!("{zero} {gone} Sample Writer <writer@example.com> 1 +0000\tbranch: Created\n");
    fs::write(&log, [line.into_bytes(), fs::read(&log).unwrap()].concat()).unwrap();
    sandbox.prune();
    sandbox.assert_released("a");
    assert!(sandbox.sh("r", "cat .git/shadow/operations/*/0/intent.json").contains(&format!("\"{gone}\"")));
    sandbox.sh("r", "git gc -q --prune=now; git fsck --strict");
}

#[test]
fn a_corrupt_journal_is_named_and_nothing_is_changed() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.prune();
    let _ = sandbox.landed("b");
    let intent = sandbox.sh("r", "ls $PWD/.git/shadow/operations/*/0/intent.json");
    fs::write(&intent, "{ \"schema\": ").unwrap();
    let image = sandbox.image();
    for args in [&["prune-sessions", "--yes"][..], &["release", "aos/b"], &["undo"], &["log"], &["expire"]] {
        let run = sandbox.shadow("r", args).exits(128);
        assert!(run.stderr.contains(&intent), "{args:?}: {run:#?}");
        assert_eq!(image.changes(&sandbox.image()), [""; 0], "{args:?}");
    }
}

#[test]
fn two_runs_at_once_do_not_both_release() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let other = format!("{} -C r prune-sessions --yes; echo $?", env!("CARGO_BIN_EXE_git-shadow"));
    prune_with(&mut sandbox, "judged", &other).exits(0);
    let said = fs::read_to_string(sandbox.path("said")).unwrap();
    assert!(said.contains("locked by another run") && said.ends_with("128\n"), "{said}");
    sandbox.assert_released("a");
}

#[test]
fn the_reflog_of_the_main_worktree_stays_as_it_is() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.git("r", ["branch", "aos/b"]);
    sandbox.age("b", 100);
    let before = Tree::of(&sandbox.path("r/.git/logs"));
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.shadow("r", ["undo"]).exits(0);
    let mut after = Tree::of(&sandbox.path("r/.git/logs"));
    for (path, entry) in &mut after.0 {
        // What comes again comes with a time of its own; its content is the same.
        if path.starts_with("refs/heads/aos") || path.is_dir() || entry.size == 0 {
            entry.mtime = before.0[path].mtime;
        }
    }
    assert_eq!(before.changes(&after), [""; 0]);
}

#[test]
fn what_changes_in_the_worktree_between_the_steps_is_seen() {
    // Whatever the worktree is called at that moment.
    let change = "(cd a 2>/dev/null || cd .a.shadow-*; ";
    for (name, what) in [
        ("judged", "echo edit >>f"),
        ("judged", "echo new >new"),
        ("again", "echo edit >>f"),
        ("again", "echo new >new"),
        ("gate", "echo edit >>f"),
        ("pins", "touch a.txt"),
        ("marker", "echo new >new"),
        ("renamed", "echo new >new"),
        ("renamed", "rm f"),
        ("renamed", "mkdir empty"),
        ("renamed", "chmod +x f"),
        ("checked", "echo new >new; git add new"),
        ("checked", "git commit -q --allow-empty -m late"),
        ("checked", "git checkout -q --detach"),
    ] {
        let mut sandbox = Sandbox::mk();
        let _ = sandbox.landed("a");
        let script = format!("{change}{what})");
        let run = prune_with(&mut sandbox, name, &script).exits(2);
        assert_eq!(stopped(&run, "aos/a").0, "raced", "{what} at {name}");
        assert_eq!(sandbox.sh("", "find . -maxdepth 1 -name '.*.shadow-*'"), "", "{what} at {name}");
        assert!(!sandbox.path("r/.git/worktrees/a/locked").exists(), "{what} at {name}");
        assert!(sandbox.has_branch("aos/a"), "{what} at {name}");
        sandbox.git("a", ["status"]);
        sandbox.git("r", ["fsck", "--strict"]);
    }
}

#[test]
fn a_process_that_enters_the_renamed_tree_reverses_the_release() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let script = "cd .a.shadow-* && { exec sleep 100 & echo $! >../pid; }";
    let run = prune_with(&mut sandbox, "renamed", script).exits(2);
    sandbox.sh("", "kill $(cat pid)");
    let (outcome, detail) = stopped(&run, "aos/a");
    assert_eq!(outcome, "raced");
    assert!(detail.contains("in use"), "{detail}");
    assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a");
}

#[test]
fn what_landed_anew_meanwhile_is_not_what_was_planned() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let script = "cd a && echo more >more && git add more && git commit -qm more && cd ../r && \
                  git merge -q --squash aos/a && git commit -qm 'more (#2)'";
    let run = prune_with(&mut sandbox, "judged", script).exits(2);
    let (outcome, detail) = stopped(&run, "aos/a");
    assert_eq!(outcome, "raced");
    assert!(detail.contains("HEAD moved"), "{detail}");
    assert!(sandbox.path("a/more").exists());
    sandbox.prune();
    sandbox.assert_released("a");
}
