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
    fetch::fetch_bases(&repo, &bases, LIMIT).unwrap();
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
    assert!(fetch::fetch_bases(&unforced, &bases, LIMIT).unwrap_err().message.contains("origin"));
    fetch::fetch_bases(&repo, &bases, LIMIT).unwrap();
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
    let error = fetch::fetch_bases(&repo, &bases, LIMIT).unwrap_err();
    assert!(error.message.starts_with("fetching from 'a'"), "{error}");
    assert_eq!(s.git("r", ["rev-parse", "origin/main"]), new);
}

#[test]
fn a_remote_that_does_not_answer_is_given_up() {
    let s = two();
    // It waits for what git would say, as git does.
    s.sh("r", "git config protocol.ext.allow always; git remote set-url origin 'ext::cat'");
    let (repo, bases) = bases_of(&s);
    let error = fetch::fetch_bases(&repo, &bases, Duration::from_millis(300)).unwrap_err();
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
    fetch::fetch_bases(&repo, &bases, LIMIT).unwrap();
    assert!(age_of_origin(&s).unwrap() < hour, "ours brought nothing new and is known all the same");
    let local = bases.iter().find(|base| base.name == "refs/heads/main").unwrap();
    assert_eq!(local.fetched_at, None);
}
