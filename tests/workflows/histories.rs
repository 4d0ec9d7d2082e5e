//! The harness itself: what it makes is what the cases mean.

use fs_err as fs;

use crate::harness::{Run, Sandbox, Tree, codes, set_mtime};

#[test]
fn a_sandbox_is_hermetic_and_its_histories_are_real() {
    let mut sandbox = Sandbox::mk();
    sandbox.origin();
    let landing = sandbox.landed("a");
    assert_eq!(sandbox.git("r", ["log", "-1", "--format=%H %an %s"]), format!("{landing} Sample Writer a (#1)"));
    assert_eq!(sandbox.git("r", ["rev-parse", "--abbrev-ref", "origin/HEAD"]), "origin/main");
    let settings = sandbox.git("", ["config", "--list", "--show-origin", "--includes"]);
    assert_eq!(settings, "command line:\tmaintenance.auto=false");
    assert!(sandbox.has_branch("aos/a"));
    sandbox.set("SAMPLE", "set");
    assert_eq!(sandbox.sh("a", "printf %s \"$SAMPLE ${AOS_NATIVE_STATE_DIR-unset}\""), "set unset");
    assert!(!sandbox.git_ok("r", ["rev-parse", "--verify", "-q", "aos/none"]));
    assert_eq!(sandbox.repo(), sandbox.root().join("r"));
}

#[test]
fn aging_moves_reflogs_and_registration_and_nothing_else() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    let tip = sandbox.git("a", ["rev-parse", "HEAD"]);
    sandbox.age("a", 100);
    let log = sandbox.git("a", ["reflog", "--date=unix", "--format=%gd"]);
    let now: u64 = sandbox.sh("r", "date +%s").parse().unwrap();
    assert!(log.contains(&format!("{{{}", (now - 100 * 3600) / 1000)), "{log}");
    assert_eq!(sandbox.git("a", ["rev-parse", "HEAD@{0}"]), tip);
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "");
}

#[test]
fn an_image_sees_content_time_mode_and_links() {
    let sandbox = Sandbox::mk();
    let before = sandbox.image();
    assert_eq!(before, sandbox.image());
    set_mtime(&sandbox.path("r/f"), 1);
    fs::os::unix::fs::symlink("f", sandbox.path("r/link")).unwrap();
    let changes = before.changes(&Tree::of(sandbox.root()));
    assert!(changes.iter().any(|c| c.starts_with("changed: \"r/f\"")), "{changes:?}");
    assert!(changes.iter().any(|c| c == "new: \"r/link\""), "{changes:?}");
    let gone = sandbox.image().changes(&before);
    assert!(gone.contains(&"gone: \"r/link\"".to_owned()), "{gone:?}");
}

#[test]
fn answers_are_read_by_name() {
    let stdout = r#"{"repositories":[{"shadows":[{"name":"aos/a","holds":[{"code":"dirty"}]}]}]}"#;
    let run = Run { status: 0, stdout: stdout.to_owned(), stderr: String::new() };
    assert_eq!(codes(&run.exits(0).shadow("aos/a")), ["dirty"]);
}
