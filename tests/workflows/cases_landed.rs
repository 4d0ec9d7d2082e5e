//! Work that landed goes, however it landed; what did not stays.

use serde_json::Value;

use crate::harness::{Sandbox, codes};

fn how(shadow: &Value) -> (&str, &str) {
    let landed = &shadow["branch"]["landed"];
    (landed["how"].as_str().unwrap_or("-"), landed["commit"].as_str().unwrap_or("-"))
}

fn two_commits(sandbox: &Sandbox, x: &str) {
    sandbox.wt(x);
    sandbox.ci(x);
    sandbox.write(format!("{x}/n"), "l1\nl2\nl3\n");
    sandbox.commit(x, "second");
}

#[track_caller]
fn assert_goes(sandbox: &Sandbox, x: &str, expected: (&str, &str)) {
    let shadow = sandbox.shadow_json(&format!("aos/{x}"));
    assert_eq!(how(&shadow), expected, "{shadow:#}");
    assert_eq!((&shadow["verdict"], &shadow["because"]), (&"release".into(), &"landed".into()), "{shadow:#}");
    sandbox.prune();
    sandbox.assert_released(x);
}

#[test]
fn c52_a_squash_of_several_commits() {
    let sandbox = Sandbox::mk();
    two_commits(&sandbox, "a");
    let landing = sandbox.squash("a");
    assert_goes(&sandbox, "a", ("squash", &landing));
}

#[test]
fn c53_a_squash_whose_lines_the_base_edited_later() {
    let sandbox = Sandbox::mk();
    two_commits(&sandbox, "a");
    let landing = sandbox.squash("a");
    sandbox.write("r/n", "L1\nl2\nl3\n");
    sandbox.commit("r", "edit");
    assert_goes(&sandbox, "a", ("squash", &landing));
}

#[test]
fn c53_a_squash_whose_files_the_base_deleted_later() {
    let sandbox = Sandbox::mk();
    two_commits(&sandbox, "a");
    let landing = sandbox.squash("a");
    sandbox.git("r", ["rm", "-q", "n"]);
    sandbox.git("r", ["commit", "-qm", "clean up"]);
    assert_goes(&sandbox, "a", ("squash", &landing));
}

#[test]
fn a_squash_that_was_reverted_is_kept() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.git("r", ["revert", "--no-edit", "HEAD"]);
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "reverted");
    sandbox.git("r", ["revert", "--no-edit", "HEAD"]);
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn a_true_merge_and_a_fast_forward() {
    let sandbox = Sandbox::mk();
    two_commits(&sandbox, "a");
    sandbox.git("r", ["merge", "-q", "--no-ff", "--no-edit", "aos/a"]);
    let merge = sandbox.git("r", ["rev-parse", "HEAD"]);
    two_commits_on(&sandbox, "b");
    sandbox.git("r", ["merge", "-q", "--ff-only", "aos/b"]);
    let tip = sandbox.git("r", ["rev-parse", "aos/b"]);
    let list = sandbox.json(&["list"]);
    assert_eq!(how(&list.shadow("aos/b")), ("ancestor", tip.as_str()));
    assert_goes(&sandbox, "a", ("ancestor", &merge));
    sandbox.assert_released("b");
}

fn two_commits_on(sandbox: &Sandbox, x: &str) {
    sandbox.wt(x);
    sandbox.ci(x);
    sandbox.ci(x);
}

#[test]
fn a_rebase_onto_a_base_that_moved() {
    let sandbox = Sandbox::mk();
    two_commits(&sandbox, "a");
    sandbox.write("r/g", "meanwhile\n");
    sandbox.commit("r", "meanwhile");
    sandbox.git("r", ["cherry-pick", "main..aos/a"]);
    let landing = sandbox.git("r", ["rev-parse", "HEAD"]);
    let shadow = sandbox.shadow_json("aos/a");
    assert_eq!(how(&shadow).1, landing, "{shadow:#}");
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn c55_a_rebase_that_needed_a_resolution_is_not_proved() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.write("a/f", "ours\n");
    sandbox.commit("a", "ours");
    sandbox.write("r/f", "theirs\n");
    sandbox.commit("r", "theirs");
    sandbox.sh(
        "r",
        "git cherry-pick aos/a || true; echo both >f; git add f; git -c core.editor=true cherry-pick --continue",
    );
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "unpushed");
}

#[test]
fn c27_empty_and_cancelling_commits_are_work() {
    let sandbox = Sandbox::mk();
    sandbox.wt("empty");
    sandbox.git("empty", ["commit", "-q", "--allow-empty", "-m", "plan: …"]);
    sandbox.wt("undone");
    sandbox.ci("undone");
    sandbox.git("undone", ["revert", "--no-edit", "HEAD"]);
    sandbox.write("r/g", "on\n");
    sandbox.commit("r", "main moves");
    for x in ["empty", "undone"] {
        sandbox.age(x, 1000);
        sandbox.assert_held(x, "unpushed");
    }
}

#[test]
fn c29_a_branch_of_which_one_commit_landed() {
    let sandbox = Sandbox::mk();
    two_commits(&sandbox, "a");
    sandbox.write("r/g", "meanwhile\n");
    sandbox.commit("r", "meanwhile");
    sandbox.git("r", ["cherry-pick", "aos/a~1"]);
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "partial");
}

#[test]
fn a_squash_of_an_earlier_tip() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.write("a/later", "later\n");
    sandbox.commit("a", "later");
    sandbox.age("a", 1000);
    let holds = sandbox.holds("aos/a");
    assert!(holds.iter().any(|c| c == "partial" || c == "unpushed"), "{holds:?}");
    sandbox.assert_kept("a");
}

#[test]
fn c57_landed_on_the_remote_s_base_only() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    let landing = sandbox.landed("a");
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    sandbox.git("r", ["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(sandbox.shadow_json("aos/a")["branch"]["landed"]["base"], "refs/remotes/origin/main");
    assert_goes(&sandbox, "a", ("squash", &landing));
}

#[test]
fn c57_landed_on_the_local_base_only() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    let landing = sandbox.landed("a");
    sandbox.write("r/.shadowrc", "landing.pushed = true\n");
    let strict = sandbox.shadow_json("aos/a");
    assert_eq!(strict["verdict"], "held", "{strict:#}");
    fs_err::remove_file(sandbox.path("r/.shadowrc")).unwrap();
    assert_eq!(sandbox.shadow_json("aos/a")["branch"]["landed"]["base"], "refs/heads/main");
    assert_goes(&sandbox, "a", ("squash", &landing));
}

#[test]
fn c57_bases_that_went_different_ways() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    let there = sandbox.landed("a");
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    sandbox.git("r", ["reset", "-q", "--hard", "HEAD~1"]);
    let here = sandbox.landed("b");
    let list = sandbox.json(&["list"]);
    assert_eq!(how(&list.shadow("aos/a")), ("squash", there.as_str()));
    assert_eq!(how(&list.shadow("aos/b")), ("squash", here.as_str()));
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.assert_released("b");
}

#[test]
fn c59_a_repository_without_a_remote() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let tip = sandbox.ci("a");
    sandbox.git("r", ["merge", "-q", "--ff-only", "aos/a"]);
    assert_goes(&sandbox, "a", ("ancestor", &tip));
}

#[test]
fn c62_the_same_content_under_another_name() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("r", ["branch", "feat/x", "aos/a"]);
    sandbox.git("r", ["merge", "-q", "--squash", "feat/x"]);
    sandbox.git("r", ["commit", "-qm", "feature x (#7)"]);
    let landing = sandbox.git("r", ["rev-parse", "HEAD"]);
    assert_goes(&sandbox, "a", ("squash", &landing));
}

#[test]
fn contained_in_a_change_that_brings_more() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("r", ["merge", "-q", "--squash", "aos/a"]);
    sandbox.write("r/more", "more\n");
    let landing = sandbox.commit("r", "a and more");
    assert_goes(&sandbox, "a", ("contained", &landing));
}

#[test]
fn a_tag_with_the_branch_s_name_is_not_the_branch() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("r", ["tag", "aos/a", "main"]);
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "unpushed");
}

#[test]
fn a_replace_ref_is_no_landing() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let tip = sandbox.ci("a");
    let base = sandbox.git("r", ["rev-parse", "main"]);
    sandbox.git("r", ["replace", &tip, &base]);
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "unpushed");
}

#[test]
fn grafts_hold_everything() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let base = sandbox.git("r", ["rev-parse", "main"]);
    sandbox.write("r/.git/info/grafts", format!("{base}\n"));
    sandbox.assert_held("a", "unverified");
}

#[test]
fn white_space_is_content() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.write("a/code.py", "if x:\n    y()\n    z()\n");
    sandbox.commit("a", "indented");
    sandbox.write("r/code.py", "if x:\n    y()\nz()\n");
    sandbox.commit("r", "not the same program");
    sandbox.age("a", 1000);
    let shadow = sandbox.shadow_json("aos/a");
    assert!(shadow["branch"]["landed"].is_null() && codes(&shadow).contains(&"unpushed".to_owned()), "{shadow:#}");
    sandbox.assert_kept("a");
}

#[test]
fn c92_the_forge_deleted_the_branch_and_left_worktree_and_local_branch() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("a", ["push", "-qu", "origin", "HEAD"]);
    let landing = sandbox.squash("a");
    sandbox.git("r", ["push", "-q", "origin", "main", ":aos/a"]);
    sandbox.git("r", ["fetch", "-qp"]);
    assert_goes(&sandbox, "a", ("squash", &landing));
}
