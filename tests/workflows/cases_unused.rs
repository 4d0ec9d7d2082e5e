//! Branches without work of their own: an idle one may go, one that is about to be used may not.

use fs_err as fs;

use crate::harness::{Sandbox, codes, set_mtime};

/// `git log -1` of the base is old, as in a repository that rests.
fn resting() -> Sandbox {
    let mut sandbox = Sandbox::empty();
    for key in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        sandbox.set(key, "2020-01-01T12:00:00Z");
    }
    sandbox.git("", ["init", "-q", "-b", "main", "r"]);
    sandbox.write("r/f", "base\n");
    sandbox.commit("r", "base");
    sandbox.unset("GIT_AUTHOR_DATE");
    sandbox.unset("GIT_COMMITTER_DATE");
    sandbox
}

#[test]
fn c01_a_new_branch_is_not_taken_for_merged() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("new");
    sandbox.assert_held("new", "grace");
}

#[test]
fn c01_a_draft_in_it_holds_in_any_case() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("new");
    sandbox.write("new/n", "draft\n");
    sandbox.assert_held("new", "untracked");
    sandbox.age("new", 24 * 30);
    let holds = sandbox.holds("aos/new");
    assert_eq!(holds, ["untracked"]);
    sandbox.assert_kept("new");
}

#[test]
fn c01_an_idle_one_goes_after_the_grace() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("idle");
    sandbox.age("idle", 23);
    sandbox.assert_held("idle", "grace");
    sandbox.age("idle", 25);
    assert_eq!(sandbox.shadow_json("aos/idle")["because"], "unused");
    sandbox.prune();
    sandbox.assert_released("idle");
}

#[test]
fn c01_age_is_the_branch_s_and_not_its_commit_s() {
    let sandbox = resting();
    sandbox.wt("new");
    sandbox.git("r", ["branch", "aos/bare"]);
    sandbox.assert_held("new", "grace");
    sandbox.assert_held("bare", "grace");
    sandbox.age("bare", 25);
    sandbox.prune();
    sandbox.assert_released("bare");
}

#[test]
fn c01_a_tip_that_is_itself_the_squash_of_other_work_proves_nothing() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    let landing = sandbox.landed("other");
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    sandbox.wt("new");
    assert_eq!(sandbox.git("new", ["rev-parse", "HEAD"]), landing);
    sandbox.assert_held("new", "grace");
    sandbox.assert_released("other");
}

#[test]
fn a_registration_just_made_is_initializing() {
    let sandbox = Sandbox::mk();
    sandbox.wt("new");
    assert!(sandbox.holds("aos/new").contains(&"initializing".to_owned()));
    sandbox.age("new", 1);
    assert_eq!(sandbox.holds("aos/new"), ["grace"]);
}

#[test]
fn reset_and_rename_make_no_work_and_a_merge_by_fast_forward_neither() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.write("r/g", "more\n");
    sandbox.commit("r", "more");
    sandbox.git("a", ["merge", "-q", "--ff-only", "main"]);
    sandbox.git("a", ["reset", "-q", "--hard", "HEAD~1"]);
    sandbox.git("r", ["branch", "-m", "aos/a", "aos/renamed"]);
    sandbox.age("a", 48);
    let log = sandbox.path("r/.git/logs/refs/heads/aos/renamed");
    sandbox.age_log(&log, 48);
    let shadow = sandbox.shadow_json("aos/renamed");
    assert_eq!((&shadow["verdict"], &shadow["because"]), (&"release".into(), &"unused".into()), "{shadow:#}");
}

#[test]
fn c46_the_directory_s_time_is_no_age() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    set_mtime(&sandbox.path("a"), 20 * 24);
    set_mtime(&sandbox.path("a/f"), 20 * 24);
    sandbox.assert_held("a", "grace");
}

#[test]
fn c47_looking_does_not_make_younger() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    for (x, hours) in [("young", 20), ("old", 30)] {
        sandbox.wt(x);
        sandbox.age(x, hours);
    }
    let seen = |sandbox: &Sandbox| {
        let list = sandbox.json(&["list"]);
        ["aos/young", "aos/old"]
            .map(|name| (list.shadow(name)["verdict"].clone(), list.shadow(name)["eligible_at"].clone()))
    };
    let first = seen(&sandbox);
    assert_eq!((&first[0].0, &first[1].0), (&"held".into(), &"release".into()));
    sandbox.json(&["prune-sessions", "-n"]);
    assert_eq!(seen(&sandbox), first);
    sandbox.git("r", ["gc", "-q"]);
    sandbox.git("r", ["fetch", "-q", "--prune"]);
    sandbox.git("young", ["status"]);
    assert_eq!(seen(&sandbox), first);
}

#[test]
fn a_time_in_the_future_is_no_age() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.age("a", 48);
    let log = sandbox.path("r/.git/logs/refs/heads/aos/a");
    let entries = fs::read_to_string(&log).unwrap();
    let (before, after) = entries.split_once("> ").unwrap();
    let (_, zone) = after.split_once(' ').unwrap();
    fs::write(&log, format!("{entries}{before}> 4000000000 {zone}")).unwrap();
    sandbox.assert_held("a", "grace");
}

#[test]
fn without_a_reflog_it_counts_from_the_first_real_run() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["config", "core.logAllRefUpdates", "false"]);
    sandbox.git("r", ["branch", "aos/a"]);
    let shadow = sandbox.shadow_json("aos/a");
    assert_eq!(codes(&shadow), ["grace"], "{shadow:#}");
    sandbox.assert_kept("a");
    assert!(!sandbox.shadow_json("aos/a")["eligible_at"].is_null(), "a real run has seen it");
}

#[test]
fn one_that_only_looks_at_what_landed_is_unused() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("theirs");
    sandbox.ci("theirs");
    sandbox.git("theirs", ["push", "-q", "origin", "HEAD"]);
    sandbox.squash("theirs");
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/mine", "../mine", "origin/aos/theirs"]);
    sandbox.age("mine", 23);
    sandbox.assert_held("mine", "grace");
    sandbox.age("mine", 25);
    assert_eq!(sandbox.shadow_json("aos/mine")["because"], "unused");
    sandbox.prune();
    sandbox.assert_released("mine");
}
