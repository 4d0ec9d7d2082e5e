//! Bringing the bases, and knowing how old they are.

use std::time::Duration;

use fs_err as fs;
use git_shadow::git::{Repository, bases, fetch};
use git_shadow::model::{Base, Timestamp};
use git_shadow::policy::Policy;

use crate::harness::Sandbox;
use crate::image::set_mtime;

const LIMIT: Duration = Duration::from_secs(60);

/// A repository with an origin, and a second one that pushes to it.
fn two() -> Sandbox {
    let s = Sandbox::mk();
    s.origin();
    s.git("", ["clone", "-q", "o.git", "other"]);
    s
}

fn bases_of(s: &Sandbox) -> (Repository, Vec<Base>) {
    let repo = Repository::discover(&s.repo()).unwrap();
    let bases = bases::resolve(&repo, &Policy::built_in()).known().cloned().unwrap();
    (repo, bases)
}

fn age_of_origin(s: &Sandbox) -> Option<Duration> {
    let (_, bases) = bases_of(s);
    let base = bases.iter().find(|base| base.name == "refs/remotes/origin/main").unwrap();
    base.fetched_at.map(|time| Timestamp::now().duration_since(time).unsigned_abs())
}

/// All refs with their values.
fn refs(s: &Sandbox) -> Vec<String> {
    s.git("r", ["for-each-ref", "--format=%(refname) %(objectname)"]).lines().map(str::to_owned).collect()
}

#[test]
fn only_the_bases_are_fetched_whatever_is_configured() {
    let s = two();
    s.sh("r", "git push -q origin main:stale main:moved; git update-ref refs/remotes/origin/keep main");
    s.sh("r", "git config fetch.prune true; git config remote.origin.tagOpt --tags; git config fetch.pruneTags true");
    s.write("r/.git/FETCH_HEAD", "somebody's\n");
    let before = refs(&s);
    s.write("other/g", "new\n");
    let new = s.commit("other", "new");
    s.sh("other", "git tag v1; git push -q origin main main:moved :stale v1");
    let (repo, bases) = bases_of(&s);
    assert!(fetch::fetch_bases(&repo, &bases, LIMIT).is_empty());
    let after = refs(&s);
    let changed: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
    let expected = ["HEAD", "main"].map(|name| format!("refs/remotes/origin/{name} {new}"));
    assert_eq!(changed, expected.iter().collect::<Vec<_>>(), "origin/HEAD is the same ref");
    assert_eq!(before.len(), after.len());
    assert_eq!(fs::read_to_string(s.path("r/.git/FETCH_HEAD")).unwrap(), "somebody's\n");
}

#[test]
fn a_base_that_went_back_is_fetched_as_forcefully_as_configured() {
    let s = two();
    s.git("other", ["commit", "-q", "--amend", "-m", "rewritten"]);
    s.git("other", ["push", "-q", "--force", "origin", "main"]);
    let (repo, bases) = bases_of(&s);
    s.git("r", ["config", "remote.origin.fetch", "refs/heads/*:refs/remotes/origin/*"]);
    let (unforced, _) = bases_of(&s);
    assert!(fetch::fetch_bases(&unforced, &bases, LIMIT)[0].message.contains("origin"));
    assert!(fetch::fetch_bases(&repo, &bases, LIMIT).is_empty());
    let tip = s.git("other", ["rev-parse", "HEAD"]);
    assert_eq!(s.git("r", ["rev-parse", "origin/main"]), tip);
}

#[test]
fn one_remote_that_fails_does_not_keep_the_others() {
    let s = two();
    s.git("", ["clone", "-q", "--bare", "o.git", "a.git"]);
    s.git("r", ["remote", "add", "a", "../a.git"]);
    s.git("r", ["fetch", "-q", "a"]);
    let (repo, bases) = bases_of(&s);
    fs::rename(s.path("a.git"), s.path("away.git")).unwrap();
    s.write("other/g", "new\n");
    let new = s.commit("other", "new");
    s.git("other", ["push", "-q", "origin", "main"]);
    let errors = fetch::fetch_bases(&repo, &bases, LIMIT);
    let [error] = errors.as_slice() else { panic!("{errors:?}") };
    assert!(error.message.starts_with("fetching from 'a'"), "{error}");
    assert_eq!(s.git("r", ["rev-parse", "origin/main"]), new);
}

#[test]
fn a_remote_that_does_not_answer_is_given_up() {
    let s = two();
    // It waits for what git would say, as git does.
    s.sh("r", "git config protocol.ext.allow always; git remote set-url origin 'ext::cat'");
    let (repo, bases) = bases_of(&s);
    let error = fetch::fetch_bases(&repo, &bases, Duration::from_millis(300)).remove(0);
    assert_eq!(error.code, "timeout", "{error}");
    assert_eq!(s.sh("r", "find .git -name '*.lock'"), "");
}

#[test]
fn the_age_of_a_base_is_that_of_its_last_fetch() {
    let s = two();
    let hour = Duration::from_secs(3600);
    assert!(age_of_origin(&s).unwrap() < hour, "the push wrote a reflog entry");
    fs::remove_file(s.path("r/.git/logs/refs/remotes/origin/main")).unwrap();
    assert_eq!(age_of_origin(&s), None);

    s.write("r/.git/FETCH_HEAD", format!("{}\t\tbranch 'x' of elsewhere\n", "1".repeat(40)));
    assert_eq!(age_of_origin(&s), None, "a fetch of something else says nothing");

    s.git("r", ["fetch", "-q", "origin"]);
    set_mtime(&s.path("r/.git/FETCH_HEAD"), 5);
    let age = age_of_origin(&s).unwrap();
    assert!(age > 4 * hour && age < 6 * hour, "{age:?}");

    s.git("r", ["worktree", "add", "-q", "-b", "aos/w", "../w"]);
    s.git("w", ["fetch", "-q", "origin"]);
    set_mtime(&s.path("r/.git/worktrees/w/FETCH_HEAD"), 3);
    let age = age_of_origin(&s).unwrap();
    assert!(age > 2 * hour && age < 4 * hour, "every worktree has its own: {age:?}");

    let (repo, bases) = bases_of(&s);
    assert!(fetch::fetch_bases(&repo, &bases, LIMIT).is_empty());
    assert!(age_of_origin(&s).unwrap() < hour, "ours brought nothing new and is known all the same");
    let local = bases.iter().find(|base| base.name == "refs/heads/main").unwrap();
    assert_eq!(local.fetched_at, None);
}

/// A remote that runs this script for git, with `serve` for what a remote does: `ext::` passes no blanks.
fn helper(s: &Sandbox, name: &str, script: &str) -> String {
    let path = s.path(&format!("{name}.sh"));
    let real = s.path("o.git");
    let serve = format!("serve() {{ exec git-upload-pack {}; }}", real.display());
    fs::write(&path, format!("#!/bin/sh\n{serve}\n{script}\n")).unwrap();
    s.sh("", &format!("chmod +x {}", path.display()));
    format!("ext::{}", path.display())
}

/// Each waits until all of them have begun: one after the other they would wait for ever.
#[test]
fn remotes_and_repositories_are_fetched_at_once() {
    let mut s = two();
    s.sh("", "mkdir p; mv r p/one; git clone -q o.git p/two; git -C p/one remote set-url origin \"$PWD/o.git\"");
    s.sh("p/one", "git remote add second ../../o.git; git fetch -q second; git remote set-head second main");
    s.sh("", "for r in one two; do git -C p/$r config protocol.ext.allow always; git -C p/$r branch aos/x; done");
    let places = [("one", "origin"), ("one", "second"), ("two", "origin")];
    for (n, (repo, remote)) in places.iter().enumerate() {
        let url = helper(
            &s,
            &format!("h{n}"),
            &format!(
                "cd {}; touch begun{n}; until [ -e begun0 ] && [ -e begun1 ] && [ -e begun2 ]; do sleep 0.02; done; serve",
                s.root().display()
            ),
        );
        s.git(format!("p/{repo}"), ["remote", "set-url", remote, &url]);
    }
    s.write("other/g", "new\n");
    let new = s.commit("other", "new");
    s.git("other", ["push", "-q", "origin", "main"]);
    s.set("GIT_ALLOW_PROTOCOL", "ext:file");
    s.shadow("", ["prune-sessions", "-n", "--fetch", "--under", "p"]).exits(0);
    for (repo, remote) in places {
        assert_eq!(s.git(format!("p/{repo}"), ["rev-parse", &format!("refs/remotes/{remote}/main")]), new);
    }
}

#[test]
fn a_fetch_that_fails_is_told_and_the_judging_goes_on() {
    let s = two();
    s.sh("", "mkdir p; git clone -q o.git p/away; git clone -q o.git p/well; git clone -q o.git p/slow");
    for repo in ["away", "well", "slow"] {
        s.sh(format!("p/{repo}"), "git switch -qc aos/x; echo x > x; git add x; git commit -qm x; git switch -q main; git push -q origin aos/x:to-merge-$(basename $PWD)");
    }
    // The server squashes one of them, and nobody here knows.
    s.sh("other", "git fetch -q; git merge -q --squash origin/to-merge-well; git commit -qm 'x (#1)'; git push -q origin main :to-merge-well :to-merge-away :to-merge-slow");
    s.sh("p/away", "git remote set-url origin ../../nowhere.git; git update-ref -d refs/remotes/origin/to-merge-away");
    s.sh("p/well", "git update-ref -d refs/remotes/origin/to-merge-well");
    s.sh("p/slow", "git update-ref -d refs/remotes/origin/to-merge-slow");
    s.git("p/slow", ["config", "remote.origin.fetch", "+refs/heads/other/*:refs/remotes/origin/*"]);
    s.sh("p/away", "git update-ref -d refs/remotes/origin/main; git update-ref --create-reflog -m fetch refs/remotes/origin/main main; sed -i -E 's/> [0-9]+ /> 1600000000 /' .git/logs/refs/remotes/origin/main");

    let stale = s.shadow("", ["list", "--repo", "p/away"]).exits(0);
    assert!(
        stale.stderr.contains("hint: base 'origin/main' last fetched ") && stale.stderr.contains(" d ago;"),
        "{stale:#?}"
    );
    let run = s.shadow("", ["prune-sessions", "--yes", "--fetch", "--json", "--under", "p"]).exits(2);
    let json = run.json();
    let told = |name: &str| {
        let all = json["repositories"].as_array().unwrap();
        let one = all.iter().find(|r| r["path"].as_str().unwrap().ends_with(name)).unwrap();
        let codes: Vec<_> = one["errors"].as_array().unwrap().iter().map(|e| e["code"].clone()).collect();
        (codes, one["shadows"][0]["verdict"].clone())
    };
    assert_eq!(told("p/away"), (vec!["fetch".into()], "held".into()), "{json:#}");
    assert_eq!(told("p/slow"), (vec!["fetch".into()], "held".into()), "{json:#}");
    assert_eq!(told("p/well"), (vec![], "release".into()), "{json:#}");
    assert!(run.stderr.contains("fetching from 'origin': git fetch"), "{run:#?}");
    assert!(!s.git_ok("p/well", ["rev-parse", "-q", "--verify", "aos/x"]));
    assert!(s.git_ok("p/away", ["rev-parse", "-q", "--verify", "aos/x"]));
    // What is known is as old as it was, and now one knows how old.
    let fetched_at = |name: &str| {
        let all = s.shadow("", ["list", "--json", "--under", "p"]).json();
        let all = all["repositories"].as_array().unwrap().clone();
        let one = all.into_iter().find(|r| r["path"].as_str().unwrap().ends_with(name)).unwrap();
        one["bases"][0]["fetched_at"].as_str().unwrap().to_owned()
    };
    assert!(fetched_at("p/away").starts_with("2020-") && !fetched_at("p/well").starts_with("2020-"));
    s.shadow("p/away", ["expire", "--fetch"]).exits(2);
}

/// What git has started for a remote ends with git, and git with its time.
#[test]
fn nothing_is_left_of_a_fetch_that_was_given_up() {
    let s = two();
    let pid = s.path("pid");
    let url = helper(&s, "slow", &format!("echo $$ > {}.new; mv {0}.new {0}; exec sleep 600", pid.display()));
    s.git("r", ["config", "protocol.ext.allow", "always"]);
    s.git("r", ["remote", "set-url", "origin", &url]);
    let (repo, bases) = bases_of(&s);
    let errors = std::thread::scope(|scope| {
        let fetch = scope.spawn(|| fetch::fetch_bases(&repo, &bases, Duration::from_secs(3)));
        fetch.join().unwrap()
    });
    assert_eq!(errors[0].code, "timeout", "{errors:?}");
    let pid = fs::read_to_string(&pid).unwrap();
    crate::interrupted::ends(&pid);
}
