//! Hooks that are there and do nothing, as the doctor sees them.

use fs_err as fs;

use crate::doctor::{changed, found, healthy, image, quiet, type_remedy};
use crate::harness::Sandbox;

fn installed() -> Sandbox {
    let sandbox = healthy();
    sandbox.shadow("r", ["hooks", "install"]).exits(0);
    quiet(&sandbox);
    sandbox
}

/// It is told, nothing is done about it, and what it tells to type helps.
#[track_caller]
fn only_typing_helps(sandbox: &Sandbox, says: &str) {
    let finding = found(sandbox, "hooks");
    assert!(finding["message"].as_str().unwrap().contains(says), "{finding:#}");
    let before = image(sandbox);
    sandbox.json(&["doctor", "--fix"]).exits(1);
    assert_eq!(changed(&before, &image(sandbox)), Vec::<std::path::PathBuf>::new());
    type_remedy(sandbox, &finding);
    quiet(sandbox);
}

#[test]
fn git_looks_where_there_is_nothing() {
    let sandbox = healthy();
    sandbox.git("r", ["config", "core.hooksPath", "/nowhere/hooks"]);
    only_typing_helps(&sandbox, "core.hooksPath (local)");
}

#[test]
fn git_looks_elsewhere() {
    let sandbox = installed();
    sandbox.sh("r", "mkdir ../elsewhere; git config core.hooksPath ../elsewhere; rm .git/hooks/pre-push");
    only_typing_helps(&sandbox, "does not call our post-merge hook");
}

#[test]
fn git_cannot_run_it() {
    let sandbox = installed();
    sandbox.sh("r", "chmod -x .git/hooks/post-merge");
    only_typing_helps(&sandbox, "not executable");
}

#[test]
fn the_program_that_it_calls_is_gone() {
    let sandbox = installed();
    let script = "cp \"$0\" ../gs; ../gs hooks install >/dev/null; rm ../gs";
    let bin = env!("CARGO_BIN_EXE_git-shadow");
    sandbox.sh(
        "r",
        &format!("bash -c '{script}' {bin}; .git/hooks/post-merge 0; git config core.x 1; rm .git/hooks/pre-push"),
    );
    only_typing_helps(&sandbox, "gs', which is not there");
}

#[test]
fn the_hook_that_was_there_before_is_called_by_nobody() {
    let sandbox = healthy();
    sandbox.write("r/.git/hooks/post-merge", "#!/bin/sh\nexit 0\n");
    sandbox.sh("r", "chmod +x .git/hooks/post-merge");
    let before = fs::read(sandbox.path("r/.git/hooks/post-merge")).unwrap();
    sandbox.shadow("r", ["hooks", "install"]).exits(0);
    quiet(&sandbox);
    fs::remove_file(sandbox.path("r/.git/hooks/post-merge")).unwrap();
    only_typing_helps(&sandbox, "nothing calls it");
    assert_eq!(fs::read(sandbox.path("r/.git/hooks/post-merge")).unwrap(), before);
}

#[test]
fn another_hook_was_written_over_ours() {
    let sandbox = healthy();
    sandbox.sh("r", "printf '#!/bin/sh\\nexit 0\\n' >.git/hooks/post-merge; chmod +x .git/hooks/post-merge");
    sandbox.shadow("r", ["hooks", "install"]).exits(0);
    sandbox.sh("r", "printf '#!/bin/sh\\nexit 1\\n' >.git/hooks/post-merge");
    let finding = found(&sandbox, "hooks");
    assert!(finding["message"].as_str().unwrap().contains("written over"), "{finding:#}");
    fs::remove_file(sandbox.path("r/.git/hooks/post-merge.git-shadow-kept")).unwrap();
    quiet(&sandbox);
}

#[test]
fn a_hook_failed() {
    let sandbox = installed();
    let failure = r#"{"time":"2026-01-01T00:00:00Z","hook":"post-merge","message":"cannot lock"}"#;
    sandbox.write("r/.git/shadow/hook-failed", failure);
    only_typing_helps(&sandbox, "cannot lock");
}
