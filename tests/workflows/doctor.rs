//! `git shadow doctor`: each trouble made with real git, seen, set right, and nothing else changed by that.

use std::path::{Path, PathBuf};

use fs_err as fs;
use git_shadow::execute::failpoint::REPAIR_NAMES;
use serde_json::Value;

use crate::harness::{Run, Sandbox};
use crate::image::Tree;

/// The findings of the only repository.
#[track_caller]
pub fn findings(run: &Run) -> Vec<Value> {
    let json = run.json();
    assert_eq!(json["schema"], "git-shadow.doctor.v1", "{json:#}");
    let repositories = json["repositories"].as_array().unwrap();
    assert_eq!(repositories.len(), 1, "{json:#}");
    assert_eq!(repositories[0]["errors"], Value::Array(vec![]), "{json:#}");
    repositories[0]["findings"].as_array().unwrap().clone()
}

/// The only finding, which has this code.
#[track_caller]
pub fn found(sandbox: &Sandbox, code: &str) -> Value {
    let run = sandbox.json(&["doctor"]).exits(1);
    let found = findings(&run);
    assert_eq!(found.iter().map(|one| one["code"].as_str().unwrap()).collect::<Vec<_>>(), [code], "{run:#?}");
    found[0].clone()
}

/// Nothing is wrong.
#[track_caller]
pub fn quiet(sandbox: &Sandbox) {
    let run = sandbox.json(&["doctor"]).exits(0);
    assert_eq!(findings(&run), Vec::<Value>::new());
}

/// What the finding tells to type, typed, where `git shadow` is in the path.
pub fn type_remedy(sandbox: &Sandbox, finding: &Value) {
    let bin = Path::new(env!("CARGO_BIN_EXE_git-shadow")).parent().unwrap();
    sandbox.sh("r", &format!("PATH='{}':$PATH; {}", bin.display(), finding["remedy"].as_str().unwrap()));
}

/// The codes of all findings, as many as there are.
pub fn codes_of(sandbox: &Sandbox) -> Vec<String> {
    let found = findings(&sandbox.json(&["doctor"]));
    found.iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
}

/// The finding of this code, among others perhaps.
#[track_caller]
pub fn one_of(sandbox: &Sandbox, code: &str) -> Value {
    let found = findings(&sandbox.json(&["doctor"]).exits(1));
    let one = found.iter().find(|one| one["code"] == code);
    one.unwrap_or_else(|| panic!("no finding '{code}': {found:#?}")).clone()
}

/// All but what the program keeps itself, and the times of directories that something was written in.
pub fn image(sandbox: &Sandbox) -> Tree {
    let mut tree = sandbox.image();
    tree.0.retain(|path, _| !path.starts_with("r/.git/shadow"));
    tree.0.values_mut().filter(|entry| entry.mode & 0o170_000 == 0o040_000).for_each(|entry| entry.mtime = (0, 0));
    tree
}

/// Which files differ; the content of a reflog that only got longer does not count.
pub fn changed(before: &Tree, after: &Tree) -> Vec<PathBuf> {
    let paths = before.0.keys().chain(after.0.keys().filter(|path| !before.0.contains_key(*path)));
    paths.filter(|path| before.0.get(*path) != after.0.get(*path)).cloned().collect()
}

/// A repository with a base and one shadow, and nothing wrong with it.
pub fn healthy() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("a");
    quiet(&sandbox);
    sandbox
}

/// `main` is checked out in the shadow's worktree `a`.
fn squatter() -> Sandbox {
    let sandbox = healthy();
    sandbox.ci("a");
    sandbox.git("r", ["switch", "-q", "--detach"]);
    sandbox.git("a", ["switch", "-q", "main"]);
    sandbox.write("a/f", "changed\n");
    sandbox.write("a/new", "new\n");
    sandbox.git("a", ["add", "new"]);
    sandbox
}

const HEAD_FILES: [&str; 2] = ["r/.git/worktrees/a/HEAD", "r/.git/worktrees/a/logs/HEAD"];
const CONFIG: [&str; 1] = ["r/.git/config"];

fn paths<const N: usize>(names: [&str; N]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn a_shadow_that_squats_on_the_base_is_detached_and_put_back_by_undo() {
    let sandbox = squatter();
    let finding = found(&sandbox, "squatting");
    assert_eq!(finding["ref"], "refs/heads/main");
    assert_eq!(finding["path"], sandbox.path("a").to_str().unwrap());
    assert_eq!((&finding["fixable"], &finding["step"]), (&Value::Bool(true), &"detach-head".into()));
    let (before, head) = (image(&sandbox), fs::read(sandbox.path(HEAD_FILES[0])).unwrap());
    let would = sandbox.json(&["doctor", "--fix", "-n"]).exits(1);
    assert_eq!(findings(&would)[0]["outcome"], "would");
    assert_eq!(changed(&before, &image(&sandbox)), paths([]), "a dry run");

    let fixed = sandbox.json(&["doctor", "--fix"]).exits(0);
    assert_eq!(findings(&fixed)[0]["outcome"], "done");
    assert!(fixed.json()["operation"].is_string(), "{fixed:#?}");
    assert_eq!(changed(&before, &image(&sandbox)), paths(HEAD_FILES));
    assert_eq!(sandbox.git("a", ["rev-parse", "HEAD"]), sandbox.git("r", ["rev-parse", "main"]));
    quiet(&sandbox);
    assert!(sandbox.git_ok("r", ["switch", "-q", "main"]), "the branch is free");
    sandbox.git("r", ["switch", "-q", "--detach"]);

    let log = sandbox.json(&["log"]).exits(0).json();
    assert_eq!(log["operations"][0]["shadows"][0]["state"], "fixed", "{log:#}");
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(fs::read(sandbox.path(HEAD_FILES[0])).unwrap(), head);
    assert_eq!(changed(&before, &image(&sandbox)).iter().filter(|path| path.starts_with("a")).count(), 0);
    assert_eq!(sandbox.json(&["log"]).json()["operations"][0]["shadows"][0]["state"], "undone");
    found(&sandbox, "squatting");
    sandbox.shadow("r", ["undo"]).exits(1);
}

#[test]
fn what_it_tells_to_type_works_as_well() {
    let sandbox = squatter();
    let finding = found(&sandbox, "squatting");
    type_remedy(&sandbox, &finding);
    quiet(&sandbox);
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), " M f\nA  new");
}

/// Nothing is set right, and the finding says why.
#[track_caller]
fn left_alone(sandbox: &Sandbox, why: &str) {
    let before = image(sandbox);
    let run = sandbox.json(&["doctor", "--fix"]).exits(1);
    let finding = findings(&run)[0].clone();
    assert_eq!(finding["code"], "squatting", "{run:#?}");
    assert_eq!((&finding["fixable"], &finding["outcome"]), (&Value::Bool(false), &Value::Null), "{finding:#}");
    assert!(finding["detail"].as_str().unwrap().contains(why), "{finding:#}");
    assert_eq!(changed(&before, &image(sandbox)), paths([]), "{why}");
}

#[test]
fn nothing_is_done_to_a_worktree_where_somebody_may_be_at_work() {
    let sandbox = squatter();
    sandbox.git("r", ["worktree", "lock", "../a"]);
    left_alone(&sandbox, "locked");
    sandbox.git("r", ["worktree", "unlock", "../a"]);

    let mut child = sandbox.command("sleep", &sandbox.path("a")).arg("60").spawn().unwrap();
    left_alone(&sandbox, "working directory");
    child.kill().unwrap();
    child.wait().unwrap();

    sandbox.write("r/.git/worktrees/a/MERGE_HEAD", sandbox.git("r", ["rev-parse", "aos/a"]) + "\n");
    left_alone(&sandbox, "merge in progress");
    fs::remove_file(sandbox.path("r/.git/worktrees/a/MERGE_HEAD")).unwrap();

    let pid = std::process::id().to_string();
    sandbox.shadow("a", ["lease", "--pid", pid.as_str()]).exits(0);
    left_alone(&sandbox, "session");
    fs::remove_file(sandbox.path("r/.git/shadow/leases/a.json")).unwrap();

    let run = sandbox.shadow("a", ["doctor", "--fix", "--json"]).exits(1);
    assert_eq!(findings(&run)[0]["detail"], "you are inside");
    sandbox.json(&["doctor", "--fix"]).exits(0);
    quiet(&sandbox);
}

#[test]
fn somebody_who_comes_at_the_last_moment_is_left_alone() {
    let mut sandbox = squatter();
    let reg = sandbox.path("r/.git/worktrees/a");
    let script = "judged=run:cd ../a && { sleep 60 >/dev/null 2>&1 & } && echo $! >../pid";
    sandbox.set("GIT_SHADOW_FAILPOINT", script);
    let run = sandbox.json(&["doctor", "--fix"]).exits(2);
    assert_eq!(findings(&run)[0]["outcome"], "raced", "{run:#?}");
    assert!(findings(&run)[0]["detail"].as_str().unwrap().contains("working directory"), "{run:#?}");
    sandbox.sh("", "kill $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do :; done; rm pid");
    assert_eq!(sandbox.json(&["log"]).json()["operations"], Value::Array(vec![]), "nothing was begun");
    // The branch moves after the intent was written: git itself refuses.
    sandbox.set("GIT_SHADOW_FAILPOINT", "repair-journal=run:git -C ../a commit -qm more");
    let run = sandbox.json(&["doctor", "--fix"]).exits(2);
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    assert_eq!(findings(&run)[0]["outcome"], "raced", "{run:#?}");
    assert_eq!(fs::read_to_string(reg.join("HEAD")).unwrap(), "ref: refs/heads/main\n");
    assert_eq!(sandbox.json(&["log"]).json()["operations"][0]["shadows"][0]["state"], "reversed");
    sandbox.shadow("r", ["undo"]).exits(1);
    // It went to another branch at the same commit, which git would not notice.
    sandbox.set("GIT_SHADOW_FAILPOINT", "repair-journal=run:git -C ../a switch -qc aos/new");
    let run = sandbox.json(&["doctor", "--fix"]).exits(2);
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    assert_eq!(findings(&run)[0]["outcome"], "raced", "{run:#?}");
    assert_eq!(fs::read_to_string(reg.join("HEAD")).unwrap(), "ref: refs/heads/aos/new\n");

    let mut sandbox = healthy();
    sandbox.git("r", ["config", "branch.main.merge", "refs/heads/aos/a"]);
    sandbox.set("GIT_SHADOW_FAILPOINT", "repair-journal=run:git config branch.main.merge refs/heads/mine");
    let run = sandbox.json(&["doctor", "--fix"]).exits(2);
    assert_eq!(findings(&run)[0]["outcome"], "raced", "{run:#?}");
    assert_eq!(sandbox.git("r", ["config", "branch.main.merge"]), "refs/heads/mine");
}

#[test]
fn undo_does_not_put_a_branch_where_it_does_not_belong_any_more() {
    let sandbox = squatter();
    sandbox.json(&["doctor", "--fix"]).exits(0);
    sandbox.git("r", ["switch", "-q", "main"]);
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("checked out at"), "{run:#?}");
    sandbox.git("r", ["switch", "-q", "--detach"]);
    sandbox.git("a", ["commit", "-qm", "detached"]);
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("HEAD moved"), "{run:#?}");
    sandbox.git("a", ["reset", "-q", "--soft", "HEAD~1"]);
    let mut child = sandbox.command("sleep", &sandbox.path("a")).arg("60").spawn().unwrap();
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("process works inside"), "{run:#?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let state = sandbox.path("r/.git/worktrees/a/rebase-merge");
    fs::create_dir(&state).unwrap();
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("rebase in progress"), "{run:#?}");
    fs::remove_dir(&state).unwrap();
    let (main, there) = (sandbox.git("r", ["rev-parse", "main"]), sandbox.git("r", ["rev-parse", "aos/a"]));
    sandbox.git("r", ["update-ref", "refs/heads/main", there.as_str()]);
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("no longer at"), "{run:#?}");
    sandbox.git("r", ["update-ref", "refs/heads/main", main.as_str()]);
    sandbox.shadow("r", ["undo"]).exits(0);
    found(&sandbox, "squatting");
}

#[test]
fn a_fix_that_is_killed_is_finished_or_never_was() {
    for name in REPAIR_NAMES {
        let mut sandbox = squatter();
        sandbox.git("r", ["config", "branch.main.merge", "refs/heads/aos/a"]);
        let (config, before) = (fs::read(sandbox.path(CONFIG[0])).unwrap(), image(&sandbox));
        sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
        assert_eq!(sandbox.shadow("r", ["doctor", "--fix"]).status, -1, "{name}");
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        sandbox.json(&["list"]).exits(0);
        sandbox.prune();
        let state = sandbox.json(&["log"]).json()["operations"][0]["shadows"][0]["state"].clone();
        let happened = *name != "repair-journal";
        assert_eq!(state, if happened { "fixed" } else { "reversed" }, "{name}");
        sandbox.json(&["doctor", "--fix"]).exits(0);
        quiet(&sandbox);
        while sandbox.shadow("r", ["undo"]).status == 0 {}
        assert_eq!(fs::read(sandbox.path(CONFIG[0])).unwrap(), config, "{name}");
        let differs = changed(&before, &image(&sandbox));
        assert!(
            differs
                .iter()
                .all(|path| [HEAD_FILES[0], HEAD_FILES[1], CONFIG[0]].map(Path::new).contains(&path.as_path())),
            "{differs:?}"
        );
        assert_eq!(sandbox.git("a", ["symbolic-ref", "HEAD"]), "refs/heads/main", "{name}");
    }
}

#[test]
fn the_main_worktree_on_a_shadows_branch_is_told_and_not_touched() {
    let sandbox = healthy();
    sandbox.git("r", ["switch", "-qc", "aos/b"]);
    let finding = found(&sandbox, "on-shadow");
    assert_eq!(finding["remedy"], "git switch main");
    let before = image(&sandbox);
    sandbox.json(&["doctor", "--fix"]).exits(1);
    assert_eq!(changed(&before, &image(&sandbox)), paths([]));
    type_remedy(&sandbox, &finding);
    quiet(&sandbox);
}

#[test]
fn a_bare_layout_has_its_base_checked_out_and_that_is_no_squatting() {
    let mut sandbox = Sandbox::mk();
    // The one that is named after the base is nobody's, wherever it is.
    sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("l").to_str().unwrap());
    sandbox.sh("", "git clone -q --bare r bare; mkdir l; git -C bare worktree add -q ../l/main main");
    sandbox.sh("", "git -C bare worktree add -q -b aos/a ../l/a; git -C bare remote remove origin");
    let doctor = |status| findings(&sandbox.shadow("bare", ["doctor", "--json"]).exits(status));
    assert_eq!(doctor(0), Vec::<Value>::new());
    sandbox.git("l/main", ["switch", "-qc", "aos/b"]);
    assert_eq!(doctor(1)[0]["code"], "on-shadow");
    sandbox.git("l/a", ["switch", "-q", "main"]);
    let both: Vec<_> = doctor(1).iter().map(|one| one["code"].clone()).collect();
    assert_eq!(both, ["squatting", "on-shadow"]);
}

#[test]
fn a_users_own_worktree_may_have_the_base() {
    let sandbox = healthy();
    sandbox.sh("r", "git switch -q --detach; git worktree add -q ../mine main");
    quiet(&sandbox);
}

#[test]
fn an_upstream_that_leads_elsewhere_is_reset_and_restored_to_the_byte() {
    for (script, why) in [
        ("git branch -q --set-upstream-to=aos/a main", "the shadow's branch 'aos/a'"),
        ("git config branch.main.merge refs/heads/aos/a", "the shadow's branch 'aos/a' of 'origin'"),
        ("git config branch.main.merge refs/heads/gone", "'gone' of 'origin', which is gone"),
        ("git config branch.main.remote gone", "'main' of 'gone', a remote that is not configured"),
        (
            "git push -q origin main:other; git config branch.main.merge refs/heads/other",
            "which has a branch of its own name",
        ),
    ] {
        let sandbox = healthy();
        sandbox.sh("r", script);
        sandbox.sh("r", "printf '[x]\\n\\ty = z ; kept\\n' >> .git/config");
        let finding = found(&sandbox, "upstream");
        assert!(finding["message"].as_str().unwrap().contains(why), "{finding:#}");
        let (config, before) = (fs::read(sandbox.path(CONFIG[0])).unwrap(), image(&sandbox));
        sandbox.json(&["doctor", "--fix"]).exits(0);
        assert_eq!(changed(&before, &image(&sandbox)), paths(CONFIG), "{script}");
        assert_eq!(sandbox.git("r", ["rev-parse", "--symbolic-full-name", "main@{u}"]), "refs/remotes/origin/main");
        quiet(&sandbox);
        sandbox.shadow("r", ["undo"]).exits(0);
        assert_eq!(
            fs::read_to_string(sandbox.path(CONFIG[0])).unwrap(),
            String::from_utf8(config).unwrap(),
            "{script}"
        );
        type_remedy(&sandbox, &found(&sandbox, "upstream"));
        quiet(&sandbox);
    }
}

#[test]
fn an_upstream_that_nobody_can_guess_is_left_to_the_user() {
    let sandbox = healthy();
    sandbox.sh("r", "git remote add fork ../o.git; git fetch -q fork; git config branch.main.remote gone");
    let finding = found(&sandbox, "upstream");
    assert_eq!(finding["fixable"], false, "two remotes have it: {finding:#}");
    type_remedy(&sandbox, &finding);
    quiet(&sandbox);

    let sandbox = healthy();
    sandbox.sh("r", "git config --add branch.main.merge refs/heads/aos/a");
    assert_eq!(found(&sandbox, "upstream")["fixable"], false, "two values");

    let sandbox = healthy();
    sandbox.sh("r", "git push -q origin main:other; git switch -qc other origin/other");
    quiet(&sandbox);
}

#[test]
fn a_value_that_changed_since_is_not_restored() {
    let sandbox = healthy();
    sandbox.sh("r", "git config branch.main.merge refs/heads/aos/a");
    sandbox.json(&["doctor", "--fix"]).exits(0);
    sandbox.sh("r", "git config branch.main.merge refs/heads/mine");
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("branch.main.merge"), "{run:#?}");
    assert_eq!(sandbox.git("r", ["config", "branch.main.merge"]), "refs/heads/mine");
}

#[test]
fn a_mirror_that_would_drop_the_pins_is_kept_from_it() {
    let sandbox = healthy();
    sandbox.sh("r", "git config remote.origin.fetch '+refs/*:refs/*'; git update-ref refs/shadow/kept/x/0/head main");
    let codes: Vec<_> = findings(&sandbox.json(&["doctor"]).exits(1)).iter().map(|f| f["code"].clone()).collect();
    assert!(codes.contains(&"mirror".into()), "{codes:?}");
    let (config, before) = (fs::read(sandbox.path(CONFIG[0])).unwrap(), image(&sandbox));
    let run = sandbox.json(&["doctor", "--fix"]);
    let mirror = findings(&run).into_iter().find(|finding| finding["code"] == "mirror").unwrap();
    assert_eq!(mirror["outcome"], "done", "{run:#?}");
    assert_eq!(changed(&before, &image(&sandbox)), paths(CONFIG));
    sandbox.git("r", ["switch", "-q", "--detach"]);
    sandbox.git("r", ["fetch", "-q", "--prune", "--no-tags", "origin"]);
    assert!(sandbox.git_ok("r", ["rev-parse", "-q", "--verify", "refs/shadow/kept/x/0/head"]), "pruned");
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(fs::read(sandbox.path(CONFIG[0])).unwrap(), config);
}
