//! What runs left, as the doctor sees it: interrupted, stuck, unreadable, and what nobody answers for.

use fs_err as fs;

use crate::doctor::{changed, codes_of, findings, found, healthy, image, one_of, quiet, type_remedy};
use crate::harness::Sandbox;
use crate::image::{Tree, set_mtime};

/// A landed shadow whose release was killed here.
fn killed(name: &str) -> Sandbox {
    let mut sandbox = healthy();
    sandbox.ci("a");
    sandbox.squash("a");
    sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
    assert_eq!(sandbox.shadow("r", ["prune-sessions", "--yes"]).status, -1);
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    sandbox
}

fn operation(sandbox: &Sandbox) -> String {
    let entry = fs::read_dir(sandbox.path("r/.git/shadow/operations")).unwrap().next().unwrap().unwrap();
    entry.file_name().into_string().unwrap()
}

#[test]
fn an_interrupted_run_is_told_and_finished() {
    for name in ["journal", "saved", "marker", "renamed", "registration", "branch", "released"] {
        let sandbox = killed(name);
        let before = sandbox.image();
        let finding = found(&sandbox, "interrupted");
        assert_eq!(before.changes(&sandbox.image()), [""; 0], "{name}: looking writes nothing");
        type_remedy(&sandbox, &finding);
        quiet(&sandbox);
        sandbox.assert_released("a");

        let sandbox = killed(name);
        let fixed = findings(&sandbox.json(&["doctor", "--fix"]).exits(0));
        assert_eq!((&fixed[0]["code"], &fixed[0]["outcome"]), (&"interrupted".into(), &"done".into()), "{name}");
        quiet(&sandbox);
    }
}

#[test]
fn what_a_run_has_under_way_is_not_left_over() {
    let mut sandbox = healthy();
    sandbox.ci("a");
    sandbox.squash("a");
    let doctor = format!("'{}' doctor >../said 2>&1 || true", env!("CARGO_BIN_EXE_git-shadow"));
    sandbox.set("GIT_SHADOW_FAILPOINT", format!("renamed=run:{doctor}"));
    sandbox.prune();
    assert_eq!(fs::read_to_string(sandbox.path("said")).unwrap(), "no findings\n");
}

#[test]
fn what_is_stuck_comes_back_once_its_place_is_free() {
    let sandbox = killed("renamed");
    sandbox.write("a/mine", "mine\n");
    sandbox.json(&["prune-sessions", "--yes"]);
    let finding = one_of(&sandbox, "stuck");
    fs::rename(sandbox.path("a"), sandbox.path("mine")).unwrap();
    type_remedy(&sandbox, &finding);
    quiet(&sandbox);
    assert!(sandbox.path("a/a.txt").exists());
}

#[test]
fn files_that_came_in_late_are_told_until_they_are_looked_at() {
    let mut sandbox = healthy();
    sandbox.ci("a");
    sandbox.squash("a");
    sandbox.set(
        "GIT_SHADOW_FAILPOINT",
        "checked=run:echo late >../.a.shadow-*/late || echo late >$(echo ../.a.shadow-*)/late",
    );
    sandbox.prune();
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    let finding = found(&sandbox, "leftover-tree");
    sandbox.json(&["doctor", "--fix"]).exits(1);
    type_remedy(&sandbox, &finding);
    quiet(&sandbox);
    assert_eq!(sandbox.sh("", "cat *.aside/late"), "late");
}

#[test]
fn what_is_left_of_an_operation_whose_journal_is_gone() {
    let sandbox = killed("renamed");
    let id = operation(&sandbox);
    fs::rename(sandbox.path("r/.git/shadow/operations").join(&id), sandbox.path("away")).unwrap();
    assert_eq!(codes_of(&sandbox), ["unowned-pins", "leftover-tree", "stale-lock"]);
    let before = image(&sandbox);
    sandbox.json(&["doctor", "--fix"]).exits(1);
    assert_eq!(changed(&before, &image(&sandbox)), Vec::<std::path::PathBuf>::new());
    for code in ["leftover-tree", "stale-lock", "unowned-pins"] {
        let finding = one_of(&sandbox, code);
        type_remedy(&sandbox, &finding);
        assert!(!codes_of(&sandbox).contains(&code.to_owned()), "{code}");
    }
    quiet(&sandbox);
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "");
}

#[test]
fn a_journal_that_cannot_be_read_is_told_and_moved_aside() {
    let sandbox = killed("released");
    sandbox.prune();
    let id = operation(&sandbox);
    sandbox.write(format!("r/.git/shadow/operations/{id}/0/intent.json"), "{");
    sandbox.shadow("r", ["list"]).exits(0);
    sandbox.shadow("r", ["log"]).exits(128);
    let finding = found(&sandbox, "corrupt-journal");
    sandbox.git("r", ["config", "branch.main.merge", "refs/heads/aos/a"]);
    sandbox.json(&["doctor", "--fix"]).exits(1);
    assert_eq!(sandbox.git("r", ["config", "branch.main.merge"]), "refs/heads/aos/a", "nothing is begun beside it");
    sandbox.git("r", ["config", "branch.main.merge", "refs/heads/main"]);
    type_remedy(&sandbox, &finding);
    type_remedy(&sandbox, &found(&sandbox, "unowned-pins"));
    quiet(&sandbox);

    let sandbox = healthy();
    for name in ["seen", "undone", "cursor", "hook-failed"] {
        sandbox.write(format!("r/.git/shadow/{name}"), "{");
        type_remedy(&sandbox, &found(&sandbox, "corrupt-journal"));
        quiet(&sandbox);
    }
}

#[test]
fn only_files_of_processes_that_are_gone_are_swept() {
    let sandbox = healthy();
    sandbox.prune();
    let dead = sandbox.sh("", "sleep 0 & wait; echo $!");
    let live = std::process::id();
    let shadow = "r/.git/shadow";
    let left = [
        format!("{shadow}/.seen.{dead}-0"),
        format!("{shadow}/fetched.{dead}"),
        format!("r/.git/worktrees/a/.gitdir.{dead}-3"),
    ];
    let kept = [
        format!("{shadow}/.seen.{live}-0"),
        format!("{shadow}/.mine"),
        format!("{shadow}/young/.seen.{dead}-0"),
        format!("r/.git/.config.{dead}-0"),
        format!("a/.notes.{dead}-0"),
        format!("tmp/git-shadow-merge-{live}-abc/objects/x"),
        "tmp/git-shadow-merge-abc/objects/x".into(),
    ];
    let quarantine = format!("tmp/git-shadow-merge-{dead}-abc");
    for name in left.iter().chain(&kept).chain([&format!("{quarantine}/objects/aa/x")]) {
        sandbox.write(name, "x");
    }
    sandbox.sh(&quarantine, "ln -s ../../r/.git/objects packs");
    sandbox.write(format!("{shadow}/.undone.{dead}-1"), "young");
    for name in left.iter().chain(&kept).chain([&quarantine]) {
        set_mtime(&sandbox.path(name), 2);
    }
    for name in ["tmp/git-shadow-merge-abc".to_owned(), format!("tmp/git-shadow-merge-{live}-abc")] {
        set_mtime(&sandbox.path(&name), 2);
    }
    let mut told: Vec<String> = findings(&sandbox.json(&["doctor"]).exits(1))
        .iter()
        .map(|one| {
            assert_eq!(one["code"], "leftover-file");
            let path = one["path"].as_str().unwrap();
            path.strip_prefix(sandbox.root().to_str().unwrap()).unwrap()[1..].to_owned()
        })
        .collect();
    told.sort();
    let mut expected: Vec<String> = left.iter().cloned().chain([quarantine.clone()]).collect();
    expected.sort();
    assert_eq!(told, expected);

    // Somebody is still in there: a git that outlived its parent.
    let mut child = sandbox.command("sleep", &sandbox.path(&quarantine)).arg("60").spawn().unwrap();
    assert_eq!(findings(&sandbox.json(&["doctor"]).exits(1)).len(), left.len());
    child.kill().unwrap();
    child.wait().unwrap();

    let (objects, before) = (Tree::of(&sandbox.path("r/.git/objects")), sandbox.image());
    sandbox.json(&["doctor", "--fix"]).exits(0);
    quiet(&sandbox);
    assert_eq!(objects.changes(&Tree::of(&sandbox.path("r/.git/objects"))), [""; 0], "a link was followed");
    let mut lost = before.changes(&sandbox.image());
    lost.retain(|change| change.starts_with("gone"));
    assert_eq!(lost.len(), left.len(), "{lost:?}");
    assert!(!sandbox.path(&quarantine).exists());
    assert!(kept.iter().all(|name| sandbox.path(name).exists()));
}
