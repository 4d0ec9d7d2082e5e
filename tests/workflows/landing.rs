//! What became of a branch's work, as named histories. A branch is `b`, the base is `main`.

use git_shadow::git::Repository;
use git_shadow::landing::{Range, prove};
use git_shadow::model::{Base, Fact, How, Landed, Landing};
use gix::ObjectId;

use crate::harness::{Sandbox, Tree};

/// Short words for the histories.
const WORDS: &str = r#"
ci() { git add -A; git commit -q --allow-empty -m "${1:-work}"; }
on() { git switch -q "$1"; }
new() { git switch -qc "$1" "${2:-HEAD}"; }
put() { mkdir -p "$(dirname "$1")"; printf '%b' "$2" > "$1"; }
lines() { seq 1 "${2:-30}" | sed 's/^/line /' > "$1"; }
edit() { sed -i "$2s/.*/$3/" "$1"; }
squash() { git merge -q --squash "$1" >/dev/null; ci "squash of $1"; git tag "${2:-landing}"; }
"#;

/// A repository with two files of thirty lines on `main`, after this history.
pub fn history(script: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.git("", ["init", "-q", "-b", "main", "r"]);
    run(&sandbox, "lines f; lines g; ci base; git tag start");
    run(&sandbox, script);
    sandbox
}

fn run(sandbox: &Sandbox, script: &str) {
    sandbox.sh("r", &format!("{WORDS}\n{script}"));
}

fn oid(sandbox: &Sandbox, name: &str) -> ObjectId {
    let text = sandbox.git("r", ["rev-parse", "--verify", &format!("{name}^{{commit}}")]);
    ObjectId::from_hex(text.as_bytes()).unwrap()
}

fn bases(sandbox: &Sandbox, names: &[&str]) -> Vec<Base> {
    let base = |name: &&str| Base { name: (*name).into(), tip: oid(sandbox, name), fetched_at: None };
    names.iter().map(base).collect()
}

fn ask(sandbox: &Sandbox, names: &[&str], branch: &str, range: &Range) -> Fact<Landing> {
    let repo = Repository::discover(&sandbox.repo()).unwrap();
    let tip = oid(sandbox, &format!("refs/heads/{branch}"));
    prove(&repo.local(), &bases(sandbox, names), &[tip], range).remove(0)
}

fn landing(sandbox: &Sandbox, branch: &str) -> Landing {
    match ask(sandbox, &["refs/heads/main"], branch, &Range::default()) {
        Fact::Known(landing) => landing,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_landed(sandbox: &Sandbox, branch: &str, how: How, commit: &str) {
    let base = "refs/heads/main".into();
    assert_eq!(landing(sandbox, branch), Landing::Landed(Landed { how, commit: oid(sandbox, commit), base }));
}

#[track_caller]
fn assert_unproven(script: &str) {
    assert_eq!(landing(&history(script), "b"), Landing::Unproven);
}

#[track_caller]
fn assert_partial(sandbox: &Sandbox, there: &[&str], gone: &[&str]) {
    let oids = |names: &[&str]| names.iter().map(|n| oid(sandbox, n)).collect::<Vec<_>>();
    assert_eq!(landing(sandbox, "b"), Landing::Partial { landed: oids(there), missing: oids(gone) });
}

const TWO_COMMITS: &str = "new b; edit f 3 three; put n 'new\\n'; ci one; edit f 20 twenty; ci two; on main;";

// Ancestor

#[test]
fn a_tip_on_the_line_of_the_base_names_itself() {
    assert_landed(
        &history("new b; put n x; ci; on main; git merge -q --ff-only b; put m y; ci"),
        "b",
        How::Ancestor,
        "b",
    );
    assert_landed(&history("git branch b; put m y; ci"), "b", How::Ancestor, "start");
}

#[test]
fn a_merge_commit_is_named_by_what_brought_it() {
    let sandbox = history(
        "new b; put n x; ci; new c; put o x; ci; on main; put m y; ci; git merge -q --no-ff c; git tag landing;
         put m z; ci; git merge -q --no-ff -m later main~1 || :; put m q; ci",
    );
    assert_landed(&sandbox, "b", How::Ancestor, "landing");
    assert_landed(&sandbox, "c", How::Ancestor, "landing");
}

#[test]
fn equal_or_lying_dates_change_nothing() {
    for dates in ["2001-01-01T00:00:00Z", "$((2000000000 - n * 100000)) +0000"] {
        let script = format!(
            "n=0; stamp() {{ n=$((n + 1)); export GIT_COMMITTER_DATE=\"{dates}\" GIT_AUTHOR_DATE=\"{dates}\"; }}
             for i in 1 2 3 4; do stamp; put m$i x; ci $i; done
             stamp; new b; put n x; ci; on main; for i in 5 6 7; do stamp; put m$i x; ci $i; done
             stamp; git merge -q --no-ff b; git tag landing; stamp; new c; put o x; ci c; stamp; put o y; ci c2
             on main; stamp; put m8 x; ci; stamp; squash c squashed; git branch old main~5; stamp; put m9 x; ci
             new d main~4; stamp; put d d; ci d; stamp; git merge -q --no-ff --no-edit main; stamp; put d e; ci e"
        );
        let sandbox = history(&script);
        assert_landed(&sandbox, "b", How::Ancestor, "landing");
        assert_landed(&sandbox, "c", How::Squash, "squashed");
        assert_landed(&sandbox, "old", How::Ancestor, "old");
        assert_eq!(landing(&sandbox, "d"), Landing::Unproven);
    }
}

// Squash

#[test]
fn a_squash_of_two_commits() {
    assert_landed(&history(&format!("{TWO_COMMITS} squash b")), "b", How::Squash, "landing");
}

#[test]
fn a_squash_after_the_same_file_had_moved_on() {
    let sandbox = history(&format!("{TWO_COMMITS} edit f 10 ten; ci drift; squash b; put m y; ci"));
    assert_landed(&sandbox, "b", How::Squash, "landing");
}

#[test]
fn a_squash_whose_lines_were_edited_or_deleted_later() {
    let edited = history(&format!("{TWO_COMMITS} squash b; edit f 3 other; put n 'else\\n'; ci; edit f 3 again; ci"));
    assert_landed(&edited, "b", How::Squash, "landing");
    let deleted = history(&format!("{TWO_COMMITS} squash b; git rm -q n f; ci; lines f; edit f 3 0; ci"));
    assert_landed(&deleted, "b", How::Squash, "landing");
}

#[test]
fn the_first_of_several_commits_that_prove_is_named() {
    let sandbox = history(
        "new b; put n 'x\\n'; ci; on main; edit f 1 one; ci; squash b; git rm -q n; ci gone; put n 'x\\n'; ci again",
    );
    assert_landed(&sandbox, "b", How::Squash, "landing");
}

#[test]
fn a_squash_onto_a_renamed_file() {
    let sandbox = history("new b; edit f 3 three; ci; on main; git mv f dir-f; ci moved; squash b; edit dir-f 3 0; ci");
    assert_landed(&sandbox, "b", How::Squash, "landing");
    let edited = history("new b; edit f 3 three; ci; on main; git mv f e; edit e 28 x; ci moved; squash b");
    assert_landed(&edited, "b", How::Squash, "landing");
    let by_branch = history("new b; git mv f e; edit e 3 three; ci; on main; edit f 28 x; ci; squash b");
    assert_landed(&by_branch, "b", How::Squash, "landing");
}

#[test]
fn stacked_branches_land_one_by_one() {
    let sandbox = history(
        "new a; edit f 3 three; ci a; new b; edit f 20 twenty; put n x; ci b; on main; put m y; ci;
         squash a first; put m z; ci; squash b second",
    );
    assert_landed(&sandbox, "a", How::Squash, "first");
    assert_landed(&sandbox, "b", How::Rebase, "second");
}

#[test]
fn links_modes_and_gitlinks_are_content() {
    let commit = "0123456789012345678901234567890123456789";
    for change in [
        "ln -s f link".to_owned(),
        "chmod +x f".to_owned(),
        "rm g; ln -s f g".to_owned(),
        format!("git update-index --add --cacheinfo 160000,{commit},sub"),
    ] {
        let script = format!("new b; {change}; git add -A . ':!sub' || git add -A; git commit -qm x; git tag tip");
        let sandbox = history(&script);
        run(
            &sandbox,
            "git reset -q --hard; rm -rf sub; on main; git reset -q --hard; put m y; git add m; git commit -qm m",
        );
        assert_eq!(landing(&sandbox, "b"), Landing::Unproven, "{change}");
        run(&sandbox, "git cherry-pick tip >/dev/null; git tag landing");
        assert_landed(&sandbox, "b", How::Squash, "landing");
    }
}

#[test]
fn a_branch_without_remote_or_of_any_name_is_proved_by_content() {
    let sandbox = history(&format!("{TWO_COMMITS} squash b; git branch -m b renamed; git tag renamed start"));
    assert_landed(&sandbox, "renamed", How::Squash, "landing");
}

// Near misses

#[test]
fn whitespace_line_ends_and_modes_are_real_work() {
    assert_unproven("new b; edit f 3 'x y'; ci; on main; edit f 3 'x  y'; ci");
    assert_unproven("new b; sed -i 's/$/\\r/' f; ci; on main; put m y; ci");
    assert_unproven("new b; edit f 3 x; ci; on main; edit f 3 x; sed -i 's/$/\\r/' f; ci");
    assert_unproven("new b; edit f 3 x; chmod +x f; ci; on main; edit f 3 x; ci");
    assert_unproven("new b; printf x >> f; ci; on main; printf 'x\\n' >> f; ci");
}

#[test]
fn a_squash_with_one_file_less_or_another_byte_proves_nothing() {
    assert_unproven(&format!("{TWO_COMMITS} git merge -q --squash b >/dev/null; git rm -qf n; ci"));
    assert_unproven(&format!("{TWO_COMMITS} git merge -q --squash b >/dev/null; put n 'neW\\n'; ci"));
    assert_unproven(&format!("{TWO_COMMITS} edit f 10 ten; ci; git merge -q --squash b >/dev/null; edit f 20 x; ci"));
}

#[test]
fn conflicts_prove_nothing() {
    assert_unproven("new b; edit f 3 ours; ci; on main; edit f 3 theirs; ci; edit f 3 both; ci");
}

#[test]
fn unmerged_work_is_unproven_whatever_the_base_did() {
    assert_unproven(TWO_COMMITS);
    assert_unproven(&format!("{TWO_COMMITS} edit f 3 other; ci; edit f 20 other; ci; put n other; ci"));
    assert_unproven("new b; git rm -q f; ci; on main; edit f 3 x; ci");
}

#[test]
fn empty_and_cancelling_commits_prove_nothing() {
    assert_unproven("new b; ci plan; on main; put m y; ci");
    assert_unproven("new b; put n x; ci; git rm -q n; ci back; on main; put m y; ci; ci empty");
    assert_unproven(
        "new b; edit f 3 x; ci; git revert --no-edit HEAD >/dev/null; on main; put m y; ci; edit f 3 x; ci; edit f 3 'line 3'; ci",
    );
}

#[test]
fn unrelated_histories_are_unproven() {
    assert_unproven("git switch -q --orphan b; lines f; lines g; ci; on main; put m y; ci");
}

// Rebase and partial

#[test]
fn a_rebase_names_the_last_commit() {
    let script =
        format!("{TWO_COMMITS} put m y; ci; git cherry-pick b~1 b >/dev/null; git tag landing; edit f 3 0; ci");
    let sandbox = history(&script);
    // The tip merged into the parent of the last one gives it as well: both names would be right.
    assert_landed(&sandbox, "b", How::Rebase, "landing");
    let spread = history(
        "new b; edit f 3 three; ci one; edit f 4 four; ci two; on main; edit f 29 x; ci; git cherry-pick b~1 >/dev/null;
         edit f 3 other; ci; edit f 3 three; ci; edit f 3 'line 3'; ci away; git cherry-pick b >/dev/null || :;
         git status --porcelain | grep -q . && { git checkout -q --theirs f; edit f 3 'line 3'; ci two; }; git tag landing",
    );
    assert!(!matches!(landing(&spread, "b"), Landing::Unproven));
}

#[test]
fn commits_that_landed_apart_and_changed_in_between_are_a_rebase() {
    let sandbox = history(
        "new b; edit f 3 three; ci one; edit f 20 twenty; ci two; on main; edit f 10 x; ci;
         git cherry-pick b~1 >/dev/null; edit f 3 other; ci; git cherry-pick b >/dev/null; git tag landing",
    );
    assert_landed(&sandbox, "b", How::Rebase, "landing");
}

#[test]
fn a_picked_commit_makes_it_partial() {
    let sandbox =
        history("new b; put n x; ci one; put o x; ci two; on main; put m y; ci; git cherry-pick b~1 >/dev/null");
    assert_partial(&sandbox, &["b~1"], &["b"]);
    let second = history("new b; put n x; ci one; put o x; ci two; on main; put m y; ci; git cherry-pick b >/dev/null");
    assert_partial(&second, &["b"], &["b~1"]);
}

#[test]
fn a_squash_of_an_earlier_tip_is_partial() {
    let script =
        format!("{TWO_COMMITS} edit g 1 one; ci; squash b; on b; edit f 28 more; ci three; on main; put m y; ci");
    assert_partial(&history(&script), &["b~2", "b~1"], &["b"]);
}

#[test]
fn a_squash_of_an_earlier_tip_is_partial_after_an_update_from_the_base() {
    let script = format!(
        "{TWO_COMMITS} edit g 1 one; ci; squash b; on b; git merge -q --no-edit main; edit f 28 more; ci three;
         on main; put m y; ci"
    );
    assert_partial(&history(&script), &["b~1^1~1", "b~1^1"], &["b"]);
}

// Contained

#[test]
fn work_inside_a_larger_commit_is_contained() {
    let sandbox = history(
        "new b; edit f 3 three; ci; on main; edit f 3 three; edit f 25 x; put m y; ci; git tag landing; edit f 3 0; ci",
    );
    assert_landed(&sandbox, "b", How::Contained, "landing");
    let added = history(
        "new b; edit f 3 three; put n 'x\\n'; ci; on main; edit f 3 three; put n 'x\\n'; put m y; ci; git tag landing; put n z; ci",
    );
    assert_landed(&added, "b", How::Contained, "landing");
    let merged = history(
        "new side; put s x; ci; new b; put n 'x\\n'; ci; on side; put t x; ci; squash b; on main; put m y; ci;
         git merge -q --no-ff side; git tag brought; put n z; ci",
    );
    assert_landed(&merged, "b", How::Contained, "brought");
}

// Updates, criss-cross

#[test]
fn an_update_from_the_base_is_peeled() {
    let script = format!(
        "{TWO_COMMITS} edit f 10 ten; ci; squash b; put m y; ci; on b; git merge -q --no-edit main; on main; put m z; ci"
    );
    assert_landed(&history(&script), "b", How::Squash, "landing");
    let before =
        format!("{TWO_COMMITS} edit f 10 ten; ci; on b; git merge -q --no-edit main; on main; put m z; ci; squash b");
    assert_landed(&history(&before), "b", How::Squash, "landing");
    let empty = history("new b; on main; put m y; ci; on b; git merge -q --no-ff --no-edit main; on main; put m z; ci");
    assert_landed(&empty, "b", How::Ancestor, "start");
}

#[test]
fn an_evil_merge_is_not_peeled() {
    let script = format!(
        "{TWO_COMMITS} squash b; put m y; ci; on b; git merge -q --no-commit main >/dev/null; edit f 28 evil; ci; on main; put m z; ci"
    );
    let sandbox = history(&script);
    assert!(!matches!(landing(&sandbox, "b"), Landing::Landed(_)), "{:?}", landing(&sandbox, "b"));
}

#[test]
fn criss_cross_merges() {
    let crossed = "new b; edit f 3 three; ci; on main; edit f 28 x; ci; git tag m1; on b; git tag b1;
                   git merge -q --no-edit m1; on main; git merge -q --no-ff --no-edit b1; put m y; ci; on b; edit g 5 five; ci; on main;";
    assert_unproven(crossed);
    let sandbox = history(&format!("{crossed} edit g 20 twenty; ci; squash b; put m z; ci"));
    assert_landed(&sandbox, "b", How::Squash, "landing");
}

// Reverted

#[test]
fn a_revert_on_the_base_is_told_with_the_commit_that_says_so() {
    for land in ["squash b", "git merge -q --no-ff b; git tag landing"] {
        let sandbox = history(&format!(
            "{TWO_COMMITS} edit f 10 ten; ci; {land}; put m y; ci; git revert --no-edit $(git rev-parse -q --verify landing^2 >/dev/null && echo -m1) landing >/dev/null; git tag back; put m z; ci"
        ));
        match landing(&sandbox, "b") {
            Landing::Reverted { landed, by } => {
                assert_eq!((landed.commit, by), (oid(&sandbox, "landing"), Some(oid(&sandbox, "back"))), "{land}");
            }
            other => panic!("{land}: {other:?}"),
        }
    }
}

#[test]
fn an_older_blob_is_a_revert_and_absence_is_not() {
    let sandbox =
        history("new b; edit f 3 three; ci; on main; put m y; ci; squash b; edit f 3 'line 3'; ci 'no reason'");
    assert!(matches!(landing(&sandbox, "b"), Landing::Reverted { by: None, .. }), "{:?}", landing(&sandbox, "b"));
    let deleted = history("new b; put n x; ci; on main; put m y; ci; squash b; git rm -q n; ci 'no longer needed'");
    assert_landed(&deleted, "b", How::Squash, "landing");
    let said = history("new b; put n x; ci; on main; put m y; ci; squash b; git revert --no-edit HEAD >/dev/null");
    assert!(matches!(landing(&said, "b"), Landing::Reverted { by: Some(_), .. }), "{:?}", landing(&said, "b"));
}

#[test]
fn what_landed_again_names_the_later_commit() {
    let sandbox = history(&format!(
        "{TWO_COMMITS} squash b first; put m y; ci; git revert --no-edit first >/dev/null; put m z; ci; squash b second; put m q; ci"
    ));
    assert_landed(&sandbox, "b", How::Squash, "second");
    run(&sandbox, "git revert --no-edit second >/dev/null");
    match landing(&sandbox, "b") {
        Landing::Reverted { landed, .. } => assert_eq!(landed.commit, oid(&sandbox, "second")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_revert_of_only_a_part_is_no_revert() {
    let sandbox = history(&format!("{TWO_COMMITS} squash b; git rm -q n; ci; edit f 20 'line 20'; ci"));
    assert_landed(&sandbox, "b", How::Squash, "landing");
}

// Bases and ranges

#[test]
fn any_base_proves_and_the_first_one_is_named() {
    let sandbox = history(&format!(
        "{TWO_COMMITS} git branch behind; squash b; git branch ahead; put m y; ci; git switch -qc apart start; put p x; ci"
    ));
    let names = ["refs/heads/apart", "refs/heads/behind", "refs/heads/ahead", "refs/heads/main"];
    let base = |names: &[&str]| match ask(&sandbox, names, "b", &Range::default()) {
        Fact::Known(Landing::Landed(landed)) => landed.base.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(base(&names), "refs/heads/ahead");
    assert_eq!(base(&["refs/heads/main", "refs/heads/ahead"]), "refs/heads/main");
    assert_eq!(base(&["refs/heads/apart", "refs/heads/main"]), "refs/heads/main");
    assert_eq!(ask(&sandbox, &names[..2], "b", &Range::default()), Fact::Known(Landing::Unproven));
    assert_eq!(ask(&sandbox, &[], "b", &Range::default()), Fact::Known(Landing::Unproven));
}

#[test]
fn a_range_lets_only_new_commits_prove() {
    let sandbox = history(&format!(
        "{TWO_COMMITS} put m y; ci; git tag before; squash b; git tag after; new c start; put c x; ci; on main;
         put m z; ci; git merge -q --no-ff c; put m q; ci; git branch side before; git branch d"
    ));
    let since = |name: &str, branch: &str| {
        let since = [("refs/heads/main".into(), oid(&sandbox, name))].into();
        matches!(ask(&sandbox, &["refs/heads/main"], branch, &Range { since }), Fact::Known(Landing::Landed(_)))
    };
    assert!(since("before", "b") && !since("after", "b") && !since("main", "b"));
    assert!(since("after", "c") && !since("main", "c") && !since("c", "c"));
    assert!(since("after", "d") && !since("d", "d"));
    assert!(since("c", "b"), "reached from beside the line");
}

// Whose word counts

#[test]
fn settings_drivers_and_attributes_change_nothing() {
    // What a driver makes of a conflict is the driver's work, wherever it was asked for.
    for place in [
        "echo 'f merge=union' > .gitattributes; ci at",
        "mkdir -p .git/info; echo 'f merge=union' > .git/info/attributes",
        "echo 'f merge=union' > .git/at; git config core.attributesFile \"$PWD/.git/at\"",
        "git config merge.default union",
    ] {
        let sandbox =
            history(&format!("{place}; new b; edit f 3 three; ci; on main; edit f 3 other; ci; squash b; put m y; ci"));
        assert_eq!(landing(&sandbox, "b"), Landing::Unproven, "{place}");
    }
    let renamed = history(
        "git config merge.renames false; git config diff.renames false; git config merge.renormalize true;
         new b; edit f 3 three; ci; on main; git mv f e; ci; edit e 3 three; ci; git tag landing",
    );
    assert_landed(&renamed, "b", How::Squash, "landing");
}

#[test]
fn replace_refs_are_not_believed() {
    let sandbox = history(&format!("{TWO_COMMITS} put m y; ci; squash other 2>/dev/null || :"));
    run(&sandbox, "git replace --graft main $(git rev-parse b)");
    assert_eq!(sandbox.git("r", ["merge-base", "b", "main"]), oid(&sandbox, "b").to_string());
    assert_eq!(landing(&sandbox, "b"), Landing::Unproven);
}

#[test]
fn a_tag_of_the_same_name_is_not_the_branch() {
    let sandbox = history(&format!("{TWO_COMMITS} git tag main b; git tag b start"));
    assert_eq!(landing(&sandbox, "b"), Landing::Unproven);
}

#[test]
fn other_hashes_and_borrowed_objects() {
    let sandbox = Sandbox::empty();
    sandbox.git("", ["init", "-q", "-b", "main", "--object-format=sha256", "r"]);
    run(&sandbox, &format!("lines f; ci base; {TWO_COMMITS} edit f 10 ten; ci; squash b"));
    assert_landed(&sandbox, "b", How::Squash, "landing");

    let lender = history(&format!("{TWO_COMMITS} edit f 10 ten; ci; squash b"));
    lender.sh("", "mv r 'a:b \"c\"'; git clone -q --shared 'a:b \"c\"' r; cd r; git branch -q b origin/b");
    assert_landed(&lender, "b", How::Squash, "landing");
}

#[test]
fn a_shallow_clone_is_cut_off_before_a_proof_and_proves_what_it_can() {
    let source = format!("{TWO_COMMITS} put m y; ci; git merge -q --no-ff b; put m z; ci");
    let sandbox = history(&source);
    sandbox.sh(
        "",
        "mv r full; git clone -q --depth 1 --no-single-branch \"file://$PWD/full\" r; cd r; git branch -q b origin/b",
    );
    assert_eq!(landing(&sandbox, "b"), Landing::CutOff);
    let deep = history(&format!("for i in 1 2 3 4; do put m $i; ci; done; {TWO_COMMITS} edit f 10 ten; ci; squash b"));
    deep.sh(
        "",
        "mv r full; git clone -q --depth 5 --no-single-branch \"file://$PWD/full\" r; cd r; git branch -q b origin/b",
    );
    assert_landed(&deep, "b", How::Squash, "landing");
}

#[test]
fn proving_changes_no_byte_and_leaves_nothing_behind() {
    let sandbox = history(&format!("{TWO_COMMITS} edit f 10 ten; ci; squash b"));
    for pack in ["", "git repack -adq", "put n y; ci; git gc -q; git pack-refs --all"] {
        run(&sandbox, pack);
        let before = Tree::of(sandbox.root());
        assert_landed(&sandbox, "b", How::Squash, "landing");
        assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0], "{pack}");
    }
}

#[test]
fn a_broken_object_is_unknown_for_its_tip_only() {
    let sandbox = history(&format!(
        "{TWO_COMMITS} edit f 10 ten; ci; new c start; edit g 3 x; ci; on main; edit g 20 y; ci; squash b; squash c other"
    ));
    let blob = sandbox.git("r", ["rev-parse", "c:g"]);
    sandbox.sh("r", &format!("rm -f .git/objects/{}/{}", &blob[..2], &blob[2..]));
    assert_landed(&sandbox, "b", How::Squash, "landing");
    let repo = Repository::discover(&sandbox.repo()).unwrap();
    let tips = ["b", "c", "b"].map(|name| oid(&sandbox, &format!("refs/heads/{name}")));
    let found = prove(&repo.local(), &bases(&sandbox, &["refs/heads/main"]), &tips, &Range::default());
    assert!(matches!(found[1], Fact::Unknown(_)), "{:?}", found[1]);
    assert!(matches!((&found[0], &found[2]), (Fact::Known(Landing::Landed(_)), Fact::Known(Landing::Landed(_)))));
}
