//! Which refs work lands on.

use serde_json::Value;

use crate::harness::{Sandbox, codes};

/// The bases of `dir`, as `list` names them.
#[track_caller]
fn bases(s: &Sandbox, dir: &str) -> Vec<String> {
    let run = s.shadow(dir, ["list", "--json"]).exits(0);
    let bases = run.json()["repositories"][0]["bases"].as_array().cloned().unwrap_or_default();
    bases.iter().map(|base| base["ref"].as_str().unwrap().to_owned()).collect()
}

/// What `list` says of the bases of `dir` when it cannot tell them; it has the shadow `aos/x`.
#[track_caller]
fn unresolved(s: &Sandbox, dir: &str) -> String {
    let shadow = s.shadow(dir, ["list", "--json"]).exits(0).shadow("aos/x");
    assert!(codes(&shadow).contains(&"base-unresolved".to_owned()), "{shadow:#}");
    let holds: Vec<Value> = shadow["holds"].as_array().unwrap().clone();
    let hold = holds.iter().find(|hold| hold["code"] == "base-unresolved").unwrap();
    hold["message"].as_str().unwrap().to_owned()
}

/// A repository with an origin and a shadow.
fn cloned() -> Sandbox {
    let s = Sandbox::mk();
    s.origin();
    s.git("r", ["branch", "--no-track", "aos/x"]);
    s
}

#[test]
fn without_a_remote_it_is_the_usual_local_branch_that_alone_exists() {
    let s = Sandbox::mk();
    s.git("r", ["branch", "aos/x"]);
    assert_eq!(bases(&s, "r"), ["refs/heads/main"]);
    s.git("r", ["branch", "-m", "main", "trunk"]);
    assert_eq!(bases(&s, "r"), ["refs/heads/trunk"]);
    s.git("r", ["branch", "-m", "trunk", "develop"]);
    assert!(unresolved(&s, "r").contains("git config init.defaultBranch"));
    s.git("r", ["config", "init.defaultBranch", "develop"]);
    assert_eq!(bases(&s, "r"), ["refs/heads/develop"]);
    s.git("r", ["branch", "master"]);
    let told = unresolved(&s, "r");
    assert!(told.contains("'refs/heads/develop' and 'refs/heads/master'"), "{told}");
    s.write("r/.shadowrc", "base = ['develop']");
    assert_eq!(bases(&s, "r"), ["refs/heads/develop"]);
}

#[test]
fn a_remotes_head_names_the_base_and_the_local_twin_is_one_too() {
    let s = cloned();
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main", "refs/heads/main"]);
    s.git("r", ["checkout", "-q", "--detach"]);
    s.git("r", ["branch", "-qD", "main"]);
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main"]);
}

#[test]
fn the_twin_may_have_another_name_and_is_never_a_shadow() {
    let s = cloned();
    s.git("r", ["branch", "-m", "main", "local"]);
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main", "refs/heads/local"]);
    // As `git worktree add -b aos/y origin/main` leaves it.
    s.git("r", ["branch", "-q", "--track", "aos/y", "origin/main"]);
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main", "refs/heads/local"]);
    s.git("r", ["branch", "-q", "--track", "other", "origin/main"]);
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main"], "of two that track it none is the twin");
}

#[test]
fn a_dangling_head_is_not_guessed_around() {
    let s = cloned();
    s.git("r", ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone"]);
    assert_eq!(
        unresolved(&s, "r"),
        "'refs/remotes/origin/HEAD' points at 'refs/remotes/origin/gone', which does not exist; \
         run 'git remote set-head origin --auto'"
    );
}

#[test]
fn a_head_that_leaves_its_remote_is_no_base() {
    let s = cloned();
    s.git("r", ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/aos/x"]);
    assert!(unresolved(&s, "r").contains("which is not a branch of 'origin'"));
    s.git("r", ["symbolic-ref", "-d", "refs/remotes/origin/HEAD"]);
    s.git("r", ["update-ref", "refs/remotes/origin/HEAD", "main"]);
    assert!(unresolved(&s, "r").contains("is not a symbolic ref"));
}

#[test]
fn without_a_head_the_usual_name_that_alone_exists_on_the_remote() {
    let s = cloned();
    s.git("r", ["remote", "set-head", "origin", "-d"]);
    s.git("r", ["push", "-q", "origin", "main:feature"]);
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main", "refs/heads/main"]);
    s.git("r", ["push", "-q", "origin", "main:master"]);
    let told = unresolved(&s, "r");
    assert!(told.contains("has 'refs/remotes/origin/main' and 'refs/remotes/origin/master'"), "{told}");
    s.git("r", ["update-ref", "-d", "refs/remotes/origin/main"]);
    s.git("r", ["update-ref", "-d", "refs/remotes/origin/master"]);
    let told = unresolved(&s, "r");
    assert!(told.contains("no usual default branch; run 'git remote set-head origin --auto'"), "{told}");
}

#[test]
fn a_remote_that_was_never_fetched_resolves_nothing() {
    let s = Sandbox::mk();
    s.git("r", ["branch", "aos/x"]);
    s.git("r", ["remote", "add", "origin", "../nowhere"]);
    assert!(unresolved(&s, "r").contains("run 'git fetch origin'"));
}

#[test]
fn several_remotes_make_a_union_and_one_that_cannot_be_told_spoils_it() {
    let s = cloned();
    // Push only: it says nothing about landings.
    s.git("r", ["remote", "add", "deploy", "../nowhere"]);
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main", "refs/heads/main"]);
    s.git("", ["clone", "-q", "--bare", "o.git", "u.git"]);
    s.git("r", ["remote", "add", "team/up", "../u.git"]);
    s.git("r", ["fetch", "-q", "team/up"]);
    let all = ["refs/remotes/origin/main", "refs/remotes/team/up/main", "refs/heads/main"];
    assert_eq!(bases(&s, "r"), all, "a remote's name may hold a slash");
    s.git("r", ["update-ref", "refs/remotes/team/up/trunk", "main"]);
    s.git("r", ["remote", "set-head", "team/up", "-d"]);
    assert!(unresolved(&s, "r").contains("run 'git remote set-head team/up --auto'"));
    s.write("r/.shadowrc", "remotes = ['orig*']");
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main", "refs/heads/main"]);
    s.write("r/.shadowrc", "remotes = ['other']");
    assert!(unresolved(&s, "r").contains("'remotes' names none of the remotes"));
}

#[test]
fn for_a_bare_repository_it_is_the_branch_of_its_head() {
    let s = cloned();
    s.git("", ["clone", "-q", "--bare", "r", "b.git"]);
    assert_eq!(bases(&s, "b.git"), ["refs/heads/main"], "its remote has no remote-tracking refs");
    s.git("b.git", ["branch", "develop", "main"]);
    s.git("b.git", ["symbolic-ref", "HEAD", "refs/heads/develop"]);
    assert_eq!(bases(&s, "b.git"), ["refs/heads/develop"]);
    s.git("b.git", ["symbolic-ref", "HEAD", "refs/heads/gone"]);
    assert!(unresolved(&s, "b.git").contains("HEAD points at 'refs/heads/gone', which does not exist"));
}

#[test]
fn policy_names_bases_by_full_or_short_name_and_each_must_exist() {
    let mut s = cloned();
    s.git("r", ["push", "-q", "origin", "main:release/1"]);
    let user = |s: &Sandbox, text: &str| s.write("home/.config/git-shadow/config.toml", text);
    user(&s, "base = ['origin/release/1', 'refs/heads/main', 'refs/remotes/origin/HEAD']");
    let named = ["refs/remotes/origin/release/1", "refs/heads/main", "refs/remotes/origin/main"];
    assert_eq!(bases(&s, "r"), named, "a symbolic one is resolved");
    user(&s, "base = ['auto', 'origin/gone']");
    assert!(unresolved(&s, "r").contains("base 'origin/gone' does not exist"));
    s.git("r", ["branch", "origin/main"]);
    user(&s, "base = ['origin/main']");
    assert!(unresolved(&s, "r").contains("write its full name"));
    s.set("XDG_CONFIG_HOME", "/nonexistent");
    assert_eq!(bases(&s, "r"), ["refs/remotes/origin/main", "refs/heads/main"]);
}

#[test]
fn bases_and_default_branches_are_protected_and_so_is_a_primary_worktree() {
    let s = cloned();
    let user = "shadows.branches = ['**']\nprotect = ['keep/*', 'refs/heads/exact']";
    s.write("home/.config/git-shadow/config.toml", user);
    for name in ["trunk", "develop", "keep/c", "keep/deep/er", "exact", "free"] {
        s.git("r", ["branch", "--no-track", name, "main"]);
    }
    s.git("", ["init", "-q", "--bare", "-b", "develop", "d.git"]);
    s.git("r", ["remote", "add", "dev", "../d.git"]);
    s.git("r", ["push", "-q", "dev", "develop"]);
    s.git("r", ["remote", "set-head", "dev", "develop"]);
    let run = s.json(&["list"]);
    let protected = |name: &str| codes(&run.shadow(name)).contains(&"protected".to_owned());
    for name in ["main", "trunk", "develop", "keep/c", "exact"] {
        assert!(protected(name), "{name}");
    }
    assert!(!protected("free") && !protected("aos/x") && !protected("keep/deep/er"));
}

#[test]
fn in_a_bare_layout_the_worktree_named_after_a_base_is_protected() {
    let s = cloned();
    s.git("", ["clone", "-q", "--bare", "r", "b.git"]);
    s.git("b.git", ["worktree", "add", "-q", "-b", "aos/y", "../layout/main", "main"]);
    s.git("b.git", ["worktree", "add", "-q", "../layout/x", "aos/x"]);
    s.git("r", ["worktree", "add", "-q", "-b", "aos/z", "../other/main"]);
    let protected = |dir: &str, name: &str| {
        let shadow = s.shadow(dir, ["list", "--json"]).exits(0).shadow(name);
        codes(&shadow).contains(&"protected".to_owned())
    };
    assert!(protected("b.git", "aos/y"));
    assert!(!protected("b.git", "aos/x"));
    assert!(!protected("r", "aos/z"), "here the main worktree is the primary one");
    s.git("b.git", ["symbolic-ref", "HEAD", "refs/heads/gone"]);
    assert!(protected("b.git", "aos/y"), "no base can be told, so the usual names count");
}

#[test]
fn a_mirror_that_would_drop_the_pins_holds_until_they_are_excluded() {
    let s = cloned();
    assert!(!s.holds("aos/x").contains(&"mirror".to_owned()));
    s.git("r", ["remote", "add", "--mirror=fetch", "backup", "../o.git"]);
    // A mirror without remote-tracking branches is passed over by the bases.
    assert!(s.holds("aos/x").contains(&"mirror".to_owned()));
    s.git("r", ["config", "--add", "remote.backup.fetch", "^refs/shadow/*"]);
    assert!(!s.holds("aos/x").contains(&"mirror".to_owned()));
}
