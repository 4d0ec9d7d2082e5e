//! Bare repositories: hosts that are pushed to, mirrors, and checkouts laid out around a bare one.

use std::time::{Duration, Instant};

use fs_err as fs;
use serde_json::Value;

use crate::checker::Inventory;
use crate::harness::{Run, Sandbox, codes};

/// A bare host `ci/host.git`, and a client that pushes to it.
fn host() -> Sandbox {
    let s = Sandbox::mk();
    s.sh("", "mkdir ci; git init -q --bare -b main ci/host.git");
    s.sh("r", "git remote add origin ../ci/host.git; git push -qu origin main; git remote set-head origin main");
    s
}

/// Work on a branch that is pushed.
fn pushed(s: &Sandbox, x: &str) {
    s.sh(
        "r",
        &format!("git switch -qc aos/{x} main; echo {x} > {x}; git add {x}; git commit -qm {x}; git push -q origin aos/{x}; git switch -q main"),
    );
}

/// It is squashed on the host, as a forge does, and the client moves on.
fn squashed(s: &Sandbox, x: &str) {
    s.sh("r", &format!("git merge -q --squash aos/{x}; git commit -qm '{x} (#1)'; git push -q origin main"));
}

/// The answer over all that lies in `ci`.
fn ci(s: &Sandbox, args: &[&str]) -> Run {
    s.shadow("", args.iter().chain(&["--json", "--under", "ci"]))
}

fn refs(s: &Sandbox, repo: &str, below: &str) -> Vec<String> {
    let format = "--format=%(refname) %(objectname)";
    s.git(repo, ["for-each-ref", format, below]).lines().map(str::to_owned).collect()
}

/// Run until it is so: the grace of a test is a second, and passes by itself.
#[track_caller]
fn until(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}: never");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_host_counts_age_from_the_first_real_run_and_what_goes_comes_back() {
    let s = host();
    for x in ["landed", "open"] {
        pushed(&s, x);
    }
    squashed(&s, "landed");
    s.git("r", ["push", "-q", "origin", "main:aos/unused", "main:aos/moved"]);
    assert!(!s.path("ci/host.git/logs").exists(), "git writes no reflogs there");
    let user = "home/.config/git-shadow/config.toml";
    s.write(user, "grace.unused = '30d'\n");
    let before = Inventory::of(&s, &["ci/host.git"]);
    let all = refs(&s, "ci/host.git", "refs/heads");

    // A reader notes nothing, however often it looks.
    for args in [&["list"][..], &["prune-sessions", "-n"]] {
        let unused = ci(&s, args).exits(0).shadow("aos/unused");
        assert_eq!((codes(&unused), &unused["age_s"]), (vec!["grace".into()], &Value::Null), "{unused:#}");
        assert!(unused["holds"][0]["message"].as_str().unwrap().contains("first real run"), "{unused:#}");
        assert!(!s.path("ci/host.git/shadow").exists());
    }
    // What has landed needs no age; the first real run notes when it saw the others.
    let run = ci(&s, &["prune-sessions", "--yes"]).exits(0);
    assert_eq!(run.json()["summary"]["released"], 1, "{run:#?}");
    let listed = ci(&s, &["list"]).exits(0);
    let unused = listed.shadow("aos/unused");
    assert!(unused["age_s"].as_i64().is_some() && !unused["eligible_at"].is_null(), "{unused:#}");
    assert_eq!(codes(&listed.shadow("aos/open")), ["unpushed"], "its only copy is here");
    assert_eq!(ci(&s, &["prune-sessions", "--yes"]).exits(0).json()["operation"], Value::Null);

    // Past the grace a later run releases it; a push that moves it begins its time anew.
    s.write(user, "grace.unused = '1s'\n");
    until("the grace passes", || ci(&s, &["list"]).shadow("aos/unused")["verdict"] == "release");
    s.write(user, "grace.unused = '30d'\n");
    s.git("r", ["push", "-q", "origin", "+main~1:aos/moved"]);
    s.write(user, "grace.unused = '1s'\n");
    let run = ci(&s, &["prune-sessions", "--yes"]).exits(0);
    assert_eq!(run.shadow("aos/unused")["steps"][0]["outcome"], "done", "{run:#?}");
    assert_eq!(codes(&run.shadow("aos/moved")), ["grace"], "at this tip it was not seen before");
    assert_eq!(before.lost(&s), [""; 0]);

    // One after the other they come back, at their tips, and no reflog is made that was not there.
    s.shadow("", ["undo", "--under", "ci"]).exits(0);
    s.shadow("", ["undo", "aos/landed", "--under", "ci"]).exits(0);
    let now = refs(&s, "ci/host.git", "refs/heads");
    let back = |line: &String| line.contains("/moved ") || now.contains(line);
    assert!(all.iter().all(back), "{all:#?} {now:#?}");
    assert!(!s.path("ci/host.git/logs/refs/heads").exists());
    // They are marked, so that no run takes them again.
    let again = ci(&s, &["prune-sessions", "--yes"]).exits(0);
    assert!(codes(&again.shadow("aos/landed")).contains(&"locked".to_owned()), "{again:#?}");
    s.git("ci/host.git", ["fsck", "--strict"]);
}

/// What is pushed to a host while it is swept is not lost, and not even a client that mirrors takes the pins.
#[test]
fn pushes_to_a_host_keep_the_pins() {
    let s = host();
    pushed(&s, "a");
    squashed(&s, "a");
    ci(&s, &["prune-sessions", "--yes"]).exits(0);
    let pins = refs(&s, "ci/host.git", "refs/shadow");
    assert!(!pins.is_empty());
    s.git("ci/host.git", ["config", "receive.hideRefs", "refs/shadow"]);
    s.git("", ["clone", "-q", "--mirror", "ci/host.git", "mirror.git"]);
    s.git("r", ["push", "-q", "--mirror", "../ci/host.git"]);
    assert_eq!(refs(&s, "ci/host.git", "refs/shadow"), pins);
    // The client still has its branch, so the mirror brought it back: it goes again.
    assert_eq!(ci(&s, &["prune-sessions", "--yes"]).exits(0).json()["summary"]["released"], 1);
}

#[test]
fn a_mirror_is_held_until_its_remedy_and_keeps_the_pins_then() {
    let s = host();
    pushed(&s, "a");
    squashed(&s, "a");
    s.git("", ["clone", "-q", "--mirror", "ci/host.git", "mirror/m.git"]);
    let run = |args: &[&str]| s.shadow("mirror", args.iter().chain(&["--json", "--under", "."]));
    let held = run(&["prune-sessions", "--yes"]).exits(0).shadow("aos/a");
    assert_eq!(codes(&held), ["mirror"], "{held:#}");
    assert_eq!(held["branch"]["landed"]["how"], "squash", "{held:#}");
    s.sh("mirror/m.git", held["holds"][0]["remedy"].as_str().unwrap());
    let before = Inventory::of(&s, &["mirror/m.git"]);
    let released = run(&["prune-sessions", "--yes"]).exits(0);
    assert_eq!(released.shadow("aos/a")["steps"][0]["outcome"], "done", "{released:#?}");
    let pins = refs(&s, "mirror/m.git", "refs/shadow");
    assert!(!pins.is_empty());
    // The next fetch brings the branch back, since the host still has it, and drops no pin.
    s.git("mirror/m.git", ["fetch", "-q", "--prune", "origin"]);
    assert_eq!(refs(&s, "mirror/m.git", "refs/shadow"), pins);
    assert_eq!(before.lost(&s), [""; 0]);
    // Swept where it lives, it is gone from both.
    ci(&s, &["prune-sessions", "--yes"]).exits(0);
    s.git("mirror/m.git", ["fetch", "-q", "--prune", "origin"]);
    assert_eq!(refs(&s, "mirror/m.git", "refs/heads/aos"), [""; 0]);
    assert_eq!(before.lost(&s), [""; 0]);
}

#[test]
fn worktrees_around_a_bare_repository_go_and_that_of_the_base_stays() {
    let s = host();
    s.sh(
        "",
        "git clone -q --bare ci/host.git lay/.bare; cd lay; echo 'gitdir: ./.bare' > .git
        git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'; git fetch -q; git remote set-head origin main
        git worktree add -q main main; git worktree add -q -b aos/a a main; git worktree add -q -b aos/b b main
        cd a; echo a > a; git add a; git commit -qm a; cd ../b; echo b > b; git add b; git commit -qm b
        cd ../main; git merge -q --squash aos/a; git commit -qm 'a (#1)'",
    );
    let before = Inventory::of(&s, &["lay/.bare"]);
    // The same from everywhere.
    for (dir, more) in [("lay", &[][..]), ("lay/main", &[]), ("lay/.bare", &[]), ("", &["--under", "lay"])] {
        let listed = s.shadow(dir, ["list", "--json", "--all"].iter().chain(more)).exits(0);
        assert_eq!(listed.json()["repositories"].as_array().unwrap().len(), 1);
        assert_eq!(listed.shadow("aos/a")["verdict"], "release", "{dir}: {listed:#?}");
        assert_eq!(codes(&listed.shadow("aos/b")), ["unpushed"], "{dir}");
        assert_eq!(listed.shadow("main")["verdict"], "foreign", "{dir}");
    }
    let run = s.shadow("lay/main", ["prune-sessions", "--yes", "--json"]).exits(0);
    assert_eq!(run.json()["summary"]["released"], 1, "{run:#?}");
    assert!(!s.path("lay/a").exists() && s.path("lay/b/b").exists() && s.path("lay/main/a").exists());
    assert_eq!(before.lost(&s), [""; 0]);
    // Whoever left the base's worktree on a session's branch keeps it.
    s.sh("lay/b", "git push -q origin HEAD:main; git fetch -q; cd ../main; git switch -qc aos/main origin/main");
    s.shadow("lay", ["prune-sessions", "--yes"]).exits(0);
    assert!(s.path("lay/main/f").exists() && s.git_ok("lay", ["rev-parse", "-q", "--verify", "aos/main"]));
    s.shadow("lay/main", ["undo", "aos/a"]).exits(0);
    assert_eq!(fs::read_to_string(s.path("lay/a/a")).unwrap(), "a\n");
    s.git("lay/.bare", ["fsck", "--strict"]);
}

/// A host has no remote: nothing to fetch, and that is no failure.
#[test]
fn a_host_with_nothing_to_fetch_fetches_nothing() {
    let s = host();
    pushed(&s, "a");
    squashed(&s, "a");
    let run = ci(&s, &["prune-sessions", "--yes", "--fetch"]).exits(0);
    assert_eq!(run.json()["summary"]["released"], 1, "{run:#?}");
    assert_eq!(run.json()["repositories"][0]["bases"][0]["fetched_at"], Value::Null);
    assert_eq!(run.stderr, "");
}
