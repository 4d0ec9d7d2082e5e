//! Dropping what is past its time: proved again, and only then.

use fs_err as fs;

use crate::checker::Inventory;
use crate::harness::Sandbox;

/// Let every operation be so many days older.
fn let_days_pass(sandbox: &Sandbox, days: i64) {
    for entry in fs::read_dir(sandbox.path("r/.git/shadow/operations")).unwrap() {
        let path = entry.unwrap().path().join("intent.json");
        let mut header: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let started: jiff::Timestamp = header["started"].as_str().unwrap().parse().unwrap();
        let then = started - jiff::SignedDuration::from_hours(24 * days);
        header["started"] = then.to_string().into();
        fs::write(&path, header.to_string()).unwrap();
    }
}

fn pins(sandbox: &Sandbox) -> usize {
    sandbox.git("r", ["for-each-ref", "refs/shadow"]).lines().count()
}

fn operations(sandbox: &Sandbox) -> usize {
    fs::read_dir(sandbox.path("r/.git/shadow/operations")).map_or(0, Iterator::count)
}

#[test]
fn before_its_time_nothing_goes() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.prune();
    let_days_pass(&sandbox, 29);
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.shadow("r", ["expire"]).exits(0);
    assert_eq!((pins(&sandbox), operations(&sandbox)), (2, 1));
    assert_eq!(before.lost(&sandbox), [""; 0]);
    sandbox.shadow("r", ["undo"]).exits(0);
}

#[test]
fn what_landed_on_a_local_base_goes() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.prune();
    let_days_pass(&sandbox, 31);
    let run = sandbox.shadow("r", ["expire"]).exits(0);
    assert!(run.stdout.starts_with("dropped "), "{run:#?}");
    assert_eq!((pins(&sandbox), operations(&sandbox)), (0, 0));
    sandbox.shadow("r", ["undo"]).exits(1);
}

#[test]
fn it_happens_at_the_end_of_a_real_run_too() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.prune();
    let_days_pass(&sandbox, 31);
    sandbox.json(&["prune-sessions", "-n"]).exits(0);
    assert_eq!(pins(&sandbox), 2, "not in a dry run");
    sandbox.prune();
    assert_eq!((pins(&sandbox), operations(&sandbox)), (0, 0));
}

#[test]
fn what_is_not_shown_any_more_stays_and_is_listed() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let tip = sandbox.git("r", ["rev-parse", "aos/a"]);
    sandbox.prune();
    let_days_pass(&sandbox, 31);
    sandbox.git("r", ["reset", "-q", "--hard", "HEAD~1"]);
    let run = sandbox.shadow("r", ["expire"]).exits(0);
    assert!(run.stdout.starts_with("kept ") && run.stdout.contains("2 pins"), "{run:#?}");
    sandbox.sh("r", "git reflog expire --expire=all --all; git gc -q --prune=now");
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(sandbox.git("r", ["rev-parse", "aos/a"]), tip);
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "");
}

#[test]
fn a_remote_tracking_ref_alone_counts_only_when_it_is_fresh() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    let _ = sandbox.landed("a");
    sandbox.sh("r", "git push -q origin main; git reset -q --hard HEAD~1");
    sandbox.prune();
    sandbox.assert_released("a");
    let_days_pass(&sandbox, 31);
    let run = sandbox.shadow("r", ["expire"]).exits(0);
    assert!(run.stdout.starts_with("kept "), "{run:#?}");
    assert_eq!(pins(&sandbox), 2);
    let run = sandbox.shadow("r", ["expire", "--fetch"]).exits(0);
    assert!(run.stdout.starts_with("dropped "), "{run:#?}");
    assert_eq!((pins(&sandbox), operations(&sandbox)), (0, 0));
}

#[test]
fn history_that_only_a_reflog_reached_goes_with_its_time() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("a", ["commit", "-q", "--amend", "-m", "again"]);
    let _ = sandbox.squash("a");
    sandbox.prune();
    assert_eq!(pins(&sandbox), 3);
    let_days_pass(&sandbox, 31);
    sandbox.shadow("r", ["expire"]).exits(0);
    assert_eq!((pins(&sandbox), operations(&sandbox)), (0, 0));
}

#[test]
fn what_was_taken_back_is_reachable_and_goes() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.prune();
    sandbox.shadow("r", ["undo"]).exits(0);
    let_days_pass(&sandbox, 31);
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.shadow("r", ["expire"]).exits(0);
    assert_eq!((pins(&sandbox), operations(&sandbox)), (0, 0));
    assert_eq!(before.lost(&sandbox), [""; 0]);
}
