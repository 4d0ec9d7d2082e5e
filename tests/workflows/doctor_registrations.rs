//! Registrations, directories, locks, leases and bases, as the doctor sees them.

use fs_err as fs;
use serde_json::Value;

use crate::doctor::{changed, codes_of, findings, found, healthy, image, quiet, type_remedy};
use crate::harness::Sandbox;

/// It is told, `--fix` leaves it alone, and what it tells to type helps.
#[track_caller]
fn only_typing_helps(sandbox: &Sandbox, code: &str) -> Value {
    let finding = found(sandbox, code);
    assert_eq!(finding["fixable"], false, "{finding:#}");
    let before = image(sandbox);
    sandbox.json(&["doctor", "--fix"]).exits(1);
    assert_eq!(changed(&before, &image(sandbox)), Vec::<std::path::PathBuf>::new());
    type_remedy(sandbox, &finding);
    quiet(sandbox);
    finding
}

#[test]
fn a_worktree_that_was_moved_is_repaired() {
    let sandbox = healthy();
    sandbox.write("a/f", "staged\n");
    sandbox.git("a", ["add", "f"]);
    // Whoever types the remedy types the name of a directory, and no command.
    let moved = "it's $(touch typed) \"here\"";
    fs::rename(sandbox.path("a"), sandbox.path(moved)).unwrap();
    let finding = only_typing_helps(&sandbox, "prunable");
    assert!(finding["message"].as_str().unwrap().contains("moved to"), "{finding:#}");
    assert!(finding["detail"].as_str().unwrap().contains("1 path staged"), "{finding:#}");
    assert_eq!(sandbox.git(moved, ["status", "--porcelain"]), "M  f");
    assert!(!sandbox.path("r/typed").exists());
}

#[test]
fn a_worktree_that_is_away_is_locked() {
    let sandbox = healthy();
    sandbox.sh(
        "",
        "mkdir disk; git -C r worktree add -q -b aos/b ../disk/b; git -C disk/b switch -q --detach; mv disk away",
    );
    let finding = only_typing_helps(&sandbox, "prunable");
    assert!(finding["detail"].as_str().unwrap().contains("its detached HEAD"), "{finding:#}");
    sandbox.git("r", ["worktree", "prune", "--expire", "now"]);
    sandbox.sh("", "mv away disk; git -C disk/b status");
    quiet(&sandbox);
}

#[test]
fn files_without_their_git_file_are_no_reason_to_prune() {
    let sandbox = healthy();
    fs::remove_file(sandbox.path("a/.git")).unwrap();
    only_typing_helps(&sandbox, "prunable");
}

#[test]
fn a_purged_registration_is_no_finding() {
    let sandbox = healthy();
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    quiet(&sandbox);
}

#[test]
fn a_directory_whose_registration_is_gone_is_registered_again() {
    let sandbox = healthy();
    sandbox.ci("a");
    sandbox.write("a/only here", "x\n");
    fs::remove_dir_all(sandbox.path("r/.git/worktrees")).unwrap();
    let finding = only_typing_helps(&sandbox, "orphan");
    assert!(finding["message"].as_str().unwrap().contains(sandbox.repo().to_str().unwrap()), "{finding:#}");
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "?? a.txt\n?? \"only here\"");
}

#[test]
fn orphans_below_the_sessions_folder() {
    let mut sandbox = healthy();
    sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("sessions").to_str().unwrap());
    quiet(&sandbox);
    sandbox.write("sessions/ab12/projects/r/.git", "gitdir: /nowhere/r/.git/worktrees/r\n");
    let finding = found(&sandbox, "orphan");
    assert!(finding["message"].as_str().unwrap().contains("a repository that is gone"), "{finding:#}");
    fs::remove_dir_all(sandbox.path("sessions/ab12")).unwrap();

    fs::create_dir_all(sandbox.path("sessions/ab13/projects/r/src/deep")).unwrap();
    fs::create_dir_all(sandbox.path("sessions/ab13/projects/other/src")).unwrap();
    sandbox.write("sessions/ab14/projects/r/src/file", "not empty\n");
    let finding = only_typing_helps(&sandbox, "orphan");
    assert_eq!(finding["path"], sandbox.path("sessions/ab13/projects/r").to_str().unwrap());
    assert!(!sandbox.path("sessions/ab13/projects/r").exists());

    // Purged, and still registered.
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/s", "../sessions/ab15/projects/r"]);
    sandbox.sh("sessions/ab15/projects/r", "rm -r .git f; mkdir d");
    quiet(&sandbox);
}

#[test]
fn another_repositorys_worktrees_are_no_orphans() {
    let sandbox = healthy();
    sandbox.sh("", "git clone -q r r2; git -C r2 worktree add -q --detach ../w2; mkdir sub; printf 'gitdir: ../r2/.git/modules/x\\n' >sub/.git");
    quiet(&sandbox);
    let both = sandbox.shadow("", ["doctor", "--under", ".", "--json"]).exits(0).json();
    assert_eq!(both["repositories"].as_array().unwrap().len(), 3, "{both:#}");
    fs::remove_dir_all(sandbox.path("r2/.git/worktrees")).unwrap();
    quiet(&sandbox);
    let run = sandbox.shadow("", ["doctor", "--under", ".", "--json"]).exits(1);
    let told: Vec<Value> = run.json()["repositories"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|r| r["findings"].as_array().unwrap().clone())
        .collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    sandbox.sh("", told[0]["remedy"].as_str().unwrap());
    sandbox.shadow("", ["doctor", "--under", "."]).exits(0);
}

#[test]
fn a_lock_of_a_process_that_is_gone() {
    let sandbox = healthy();
    sandbox.ci("a");
    sandbox.squash("a");
    let dead = sandbox.sh("", "sleep 0 & wait; echo $!");
    let lock = |pid: &str| {
        let reason = format!("claude agent x (pid {pid})");
        sandbox.git("r", ["worktree", "lock", "--reason", reason.as_str(), "../a"]);
    };
    lock(&std::process::id().to_string());
    quiet(&sandbox);
    sandbox.git("r", ["worktree", "unlock", "../a"]);
    lock(&dead);
    only_typing_helps(&sandbox, "stale-lock");
    sandbox.assert_released("a");
}

#[test]
fn a_lease_that_cannot_be_read() {
    let sandbox = healthy();
    sandbox.write("r/.git/shadow/leases/a.json", "{");
    only_typing_helps(&sandbox, "corrupt-lease");
}

#[test]
fn a_base_that_was_not_fetched_for_long() {
    let sandbox = healthy();
    let log = sandbox.path("r/.git/logs/refs/remotes/origin/main");
    sandbox.age_log(&log, 6 * 24);
    quiet(&sandbox);
    sandbox.age_log(&log, 9 * 24);
    let finding = only_typing_helps(&sandbox, "stale-base");
    assert!(finding["message"].as_str().unwrap().contains("9 days ago"), "{finding:#}");
    sandbox.age_log(&log, 9 * 24);
    fs::remove_file(sandbox.path("r/.git/shadow/fetched")).unwrap();
    sandbox.sh("r", "git worktree remove ../a; git branch -q -d aos/a");
    quiet(&sandbox);
}

#[test]
fn no_base_is_a_finding_where_there_are_shadows() {
    let sandbox = Sandbox::mk();
    sandbox.sh("r", "git branch master; git worktree add -q -b aos/a ../a");
    let finding = found(&sandbox, "base-unresolved");
    assert!(finding["remedy"].as_str().unwrap().contains(".shadowrc"), "{finding:#}");
    sandbox.git("r", ["branch", "-q", "-d", "master"]);
    quiet(&sandbox);
}

#[test]
fn a_push_that_would_publish_the_pins() {
    let sandbox = healthy();
    sandbox.sh("r", "git init -q --bare ../m.git; git remote add --mirror=push m ../m.git");
    sandbox.sh("r", "git update-ref refs/shadow/test main");
    only_typing_helps(&sandbox, "mirror-push");
    sandbox.git("r", ["push", "-q", "m"]);
    let pushed = sandbox.git("m.git", ["for-each-ref", "--format=%(refname)"]);
    assert!(pushed.contains("refs/heads/main") && !pushed.contains("refs/shadow"), "{pushed}");
}

#[test]
fn so_many_worktrees_that_sandboxes_fail() {
    let sandbox = healthy();
    let limit = git_shadow::sys::sandbox::REGISTRATIONS;
    // As git registers them, without as many checkouts.
    let script = format!(
        "for n in $(seq 2 {limit}); do cp -r .git/worktrees/a .git/worktrees/n$n; \
         mkdir ../n$n; echo \"$PWD/../n$n/.git\" >.git/worktrees/n$n/gitdir; \
         echo \"gitdir: $PWD/.git/worktrees/n$n\" >../n$n/.git; git rev-parse main >.git/worktrees/n$n/HEAD; done"
    );
    sandbox.sh("r", &script);
    let finding = found(&sandbox, "crowded");
    assert!(finding["message"].as_str().unwrap().starts_with(&format!("{limit} worktrees")), "{finding:#}");
    let listed = sandbox.shadow("r", ["list"]).exits(0);
    assert!(listed.stderr.contains(&format!("hint: {limit} worktrees of")), "{listed:#?}");
    sandbox.sh("r", "rm -r .git/worktrees/n2 ../n2");
    assert_eq!(codes_of(&sandbox), [""; 0]);
    let listed = sandbox.shadow("r", ["list"]).exits(0);
    assert!(!listed.stderr.contains("sandboxes"), "{listed:#?}");
}

#[test]
fn every_repository_is_told_and_one_that_fails_does_not_keep_the_others() {
    let sandbox = healthy();
    sandbox.sh(
        "",
        "git clone -q r r2; git -C r2 config extensions.odd true; git -C r2 config core.repositoryformatversion 1",
    );
    let run = sandbox.shadow("", ["doctor", "--repo", "r", "--repo", "r2", "--json"]).exits(2);
    let json = run.json();
    let repositories = json["repositories"].as_array().unwrap();
    assert_eq!(repositories[0]["errors"], Value::Array(vec![]), "{json:#}");
    assert_eq!(repositories[1]["errors"][0]["code"], "unsupported-format", "{json:#}");
    sandbox.shadow("", ["doctor"]).exits(128);
    sandbox.shadow("r", ["doctor", "-n"]).exits(129);
}

#[test]
fn what_it_tells_can_be_typed_from_where_one_stands() {
    let sandbox = healthy();
    sandbox.git("r", ["config", "branch.main.merge", "refs/heads/aos/a"]);
    let run = sandbox.shadow("", ["doctor", "--repo", "r", "--json"]).exits(1);
    sandbox.sh("", findings(&run)[0]["remedy"].as_str().unwrap());
    quiet(&sandbox);
}
