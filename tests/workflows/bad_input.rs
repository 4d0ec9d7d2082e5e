//! Bad input gets a clear error with the right exit code, and changes nothing.

use std::path::PathBuf;

use fs_err as fs;

use crate::harness::{Run, Sandbox, skip};

/// A repository with a shadow that could go.
fn landed() -> Sandbox {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox
}

/// It fails like this in `dir`, says so like git, and changes nothing.
#[track_caller]
fn refused(sandbox: &Sandbox, dir: &str, args: &[&str], status: i32, said: &str) -> Run {
    let before = sandbox.image();
    let run = sandbox.shadow(dir, args);
    assert_eq!(run.status, status, "{args:?}: {run:#?}");
    assert!(run.stderr.contains(said), "no '{said}' for {args:?}: {run:#?}");
    assert!(!run.stderr.contains("panicked"), "{run:#?}");
    assert_eq!(before.changes(&sandbox.image()), [""; 0], "{args:?}");
    run
}

#[test]
fn unknown_commands_options_and_values_are_usage() {
    let sandbox = landed();
    refused(&sandbox, "r", &["prune-session"], 129, "prune-sessions");
    refused(&sandbox, "r", &["list", "--everything"], 129, "--everything");
    refused(&sandbox, "r", &["release"], 129, "release");
    refused(&sandbox, "r", &["list", "--color", "blue"], 129, "blue");
    refused(&sandbox, "r", &["prune-sessions", "--yes", "-n"], 129, "");
}

#[test]
fn help_and_version_are_answers() {
    let sandbox = landed();
    for args in [&["-h"][..], &["--help"], &["list", "-h"], &["--version"]] {
        let run = sandbox.shadow("r", args);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{args:?}: {run:#?}");
        assert!(run.stdout.contains("git"), "{run:#?}");
    }
}

#[test]
fn a_shadow_that_is_not_there() {
    let sandbox = landed();
    for command in ["explain", "release", "undo"] {
        let run = sandbox.shadow("r", [command, "aos/nobody"]);
        assert!(run.status != 0 && run.stderr.contains("aos/nobody"), "{command}: {run:#?}");
    }
    assert!(sandbox.path("a/f").exists());
}

#[test]
fn an_ambiguous_name_is_listed() {
    let sandbox = Sandbox::mk();
    for branch in ["aos/claude/ab45", "aos/codex/ab45"] {
        sandbox.git("r", ["branch", branch]);
    }
    let run = sandbox.shadow("r", ["explain", "ab45"]);
    assert!(run.status != 0, "{run:#?}");
    assert!(run.stderr.contains("aos/claude/ab45") && run.stderr.contains("aos/codex/ab45"), "{run:#?}");
    sandbox.shadow("r", ["explain", "aos/codex/ab45"]).exits(0);
}

#[test]
fn shadows_are_named_by_branch_short_name_registration_and_path() {
    let sandbox = landed();
    let path = sandbox.path("a");
    for name in ["aos/a", "refs/heads/aos/a", "a", "../a", path.to_str().unwrap()] {
        let run = sandbox.shadow("r", ["explain", name, "--json"]);
        assert_eq!((run.status, run.shadow("aos/a")["name"].as_str()), (0, Some("aos/a")), "{name}: {run:#?}");
    }
}

#[test]
fn a_bad_shadowrc_is_fatal_with_line_and_the_nearest_key() {
    let sandbox = landed();
    sandbox.write("r/.shadowrc", "protect = []\n\n[grace]\nunuesd = \"1d\"\n");
    let run = refused(&sandbox, "r", &["prune-sessions", "--yes"], 128, "unuesd");
    assert!(run.stderr.contains(".shadowrc") && run.stderr.contains("unused") && run.stderr.contains('4'), "{run:#?}");
    sandbox.write("r/.shadowrc", "[grace]\nunused = \"yesterday\"\n");
    refused(&sandbox, "r", &["list"], 128, "yesterday");
    sandbox.write("r/.shadowrc", "grace = [\n");
    refused(&sandbox, "r", &["list"], 128, ".shadowrc");
    sandbox.write("r/.shadowrc", [0xff, 0xfe, b'\n']);
    refused(&sandbox, "r", &["list"], 128, ".shadowrc");
    sandbox.write("r/.shadowrc", "[purged]\nroots = [\"/\"]\n");
    refused(&sandbox, "r", &["list"], 128, "purged");
    fs::remove_file(sandbox.path("r/.shadowrc")).unwrap();
    sandbox.write("home/.config/git-shadow/config.toml", "keep = 3\n");
    refused(&sandbox, "r", &["list"], 128, "config.toml");
}

#[test]
fn not_a_repository() {
    let sandbox = Sandbox::empty();
    for args in [&["list"][..], &["prune-sessions", "--yes"], &["explain", "x"], &["undo"], &["log"]] {
        refused(&sandbox, "home", args, 128, "repository");
    }
}

#[test]
fn a_repository_that_is_given_and_is_none() {
    let sandbox = landed();
    fs::create_dir(sandbox.path("empty")).unwrap();
    refused(&sandbox, "", &["list", "--repo", "nowhere"], 128, "fatal: no directory '/");
    let run = sandbox.shadow("", ["list", "--json", "--repo", "r", "--repo", "empty"]);
    assert_eq!(run.status, 2, "{run:#?}");
    assert_eq!(run.shadow("aos/a")["verdict"], "release", "the others go on");
}

/// git-shadow as nobody, who has a home of their own in the sandbox.
fn as_nobody(sandbox: &Sandbox, dir: &str, args: &[&str]) -> Option<Run> {
    // The binary lies below a home that nobody may not enter.
    let binary = sandbox.path("git-shadow");
    fs::copy(env!("CARGO_BIN_EXE_git-shadow"), &binary).unwrap();
    let setpriv = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    let mut command = sandbox.command("setpriv", &sandbox.path(dir));
    let output = command.args(setpriv).arg(&binary).args(args).output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let run =
        Run { status: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) };
    (!run.stderr.contains("setpriv:")).then_some(run)
}

/// A landed shadow in a sandbox that belongs to nobody, without what git says about owners.
fn of_nobody(sandbox: &Sandbox) {
    sandbox.sh("", "chmod 755 .");
    sandbox.sh("", "chown -R 65534:65534 r a home tmp 2>/dev/null || true");
}

#[test]
fn a_repository_that_may_not_be_read() {
    let sandbox = landed();
    of_nobody(&sandbox);
    sandbox.sh("", "chmod 700 r/.git; chown 0:0 r/.git");
    let before = sandbox.image();
    let Some(run) = as_nobody(&sandbox, "home", &["list", "--repo", "../r"]) else {
        return skip("a_repository_that_may_not_be_read", "not root: setpriv cannot change the user");
    };
    assert!(run.status == 2 || run.status == 128, "{run:#?}");
    assert!(run.stderr.contains("error:") || run.stderr.contains("fatal:"), "{run:#?}");
    assert_eq!(binaryless(before.changes(&sandbox.image())), [""; 0]);
}

fn binaryless(changes: Vec<String>) -> Vec<String> {
    changes.into_iter().filter(|c| !c.contains("\"git-shadow\"")).collect()
}

#[test]
fn a_repository_of_another_owner_is_not_trusted_until_the_user_does_what_the_hint_says() {
    let mut sandbox = landed();
    sandbox.sh("", "chmod 755 .; chown -R 65534:65534 home tmp 2>/dev/null || true");
    let Some(run) = as_nobody(&sandbox, "r", &["list"]) else {
        return skip("a_repository_of_another_owner_is_not_trusted", "not root: setpriv cannot change the user");
    };
    assert_eq!(run.status, 128, "{run:#?}");
    let hint = run.stderr.split_once("hint: git config --global --add safe.directory ").unwrap().1;
    let config = sandbox.path("gitconfig");
    fs::write(&config, format!("[safe]\n\tdirectory = {}\n", hint.lines().next().unwrap())).unwrap();
    sandbox.set("GIT_CONFIG_GLOBAL", config.to_str().unwrap());
    let run = as_nobody(&sandbox, "r", &["list"]).unwrap();
    assert_eq!(run.status, 0, "{run:#?}");
    // The root of the worktree is told once, although neither it nor what is in it can be deleted.
    assert!(run.stdout.contains("1 path cannot be deleted: . is in a directory that is not writable"), "{run:#?}");
}

#[test]
fn c74_files_of_another_user_are_told_before_anything_is_touched() {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", "target/\n");
    sandbox.commit("r", "ignore");
    let _ = sandbox.landed("a");
    sandbox.write("a/target/out/x", "of root\n");
    of_nobody(&sandbox);
    sandbox.sh("", "chown 65534:65534 . r a; chown -R 0:0 a/target; chmod -R go-w a/target");
    let before = sandbox.image();
    let Some(run) = as_nobody(&sandbox, "r", &["list", "--json"]) else {
        return skip("c74", "not root: setpriv cannot change the user");
    };
    assert!(crate::harness::codes(&run.shadow("aos/a")).contains(&"undeletable".to_owned()), "{run:#?}");
    as_nobody(&sandbox, "r", &["prune-sessions", "--yes"]).unwrap().exits(0);
    let changes = binaryless(before.changes(&sandbox.image()));
    let changes: Vec<_> =
        changes.into_iter().filter(|c| !c.contains("r/.git/shadow") && !c.contains("\"r/.git\"")).collect();
    assert_eq!(changes, [""; 0]);
}

#[test]
fn c75_a_repository_that_is_read_only() {
    let sandbox = landed();
    of_nobody(&sandbox);
    sandbox.sh("", "chown 65534:65534 .; chmod -R a-w r/.git");
    let before = sandbox.image();
    let Some(list) = as_nobody(&sandbox, "r", &["list"]) else {
        return skip("c75", "not root: setpriv cannot change the user");
    };
    assert_eq!(list.status, 0, "reading needs no writing: {list:#?}");
    let run = as_nobody(&sandbox, "r", &["prune-sessions", "--yes"]).unwrap();
    assert!(run.status == 2 || run.status == 128, "{run:#?}");
    assert!(run.stderr.to_lowercase().contains("permission denied"), "{run:#?}");
    assert_eq!(binaryless(before.changes(&sandbox.image())), [""; 0]);
}

#[test]
fn c96_one_head_that_may_not_be_read_holds_its_shadow_and_says_so() {
    let sandbox = landed();
    let _ = sandbox.landed("b");
    of_nobody(&sandbox);
    sandbox.sh("", "chown 65534:65534 .; chown -R 65534:65534 b; chown 0:0 r/.git/worktrees/a/HEAD; chmod 600 r/.git/worktrees/a/HEAD");
    let Some(run) = as_nobody(&sandbox, "r", &["prune-sessions", "--yes", "--json"]) else {
        return skip("c96", "not root: setpriv cannot change the user");
    };
    let told = run.shadows().iter().any(|s| crate::harness::codes(s).contains(&"unverified".to_owned()));
    assert!(told || run.stdout.contains("\"errors\":[{"), "{run:#?}");
    sandbox.sh("", "chown -R 0:0 .");
    assert!(sandbox.path("a/f").exists() && sandbox.has_branch("aos/a"));
    sandbox.assert_released("b");
}

#[test]
fn formats_that_are_not_known_are_refused() {
    let sandbox = landed();
    sandbox.git("r", ["config", "core.repositoryFormatVersion", "1"]);
    sandbox.git("r", ["config", "extensions.sample", "true"]);
    refused(&sandbox, "r", &["prune-sessions", "--yes"], 128, "sample");
    let sandbox = Sandbox::empty();
    let mut init = sandbox.command("git", sandbox.root());
    if !init.args(["init", "-q", "-b", "main", "--ref-format=reftable", "r"]).status().unwrap().success() {
        return skip("formats_that_are_not_known_are_refused", "this git has no reftable");
    }
    sandbox.write("r/f", "base\n");
    sandbox.commit("r", "base");
    refused(&sandbox, "r", &["prune-sessions", "--yes"], 128, "reftable");
}

#[test]
fn a_repository_without_a_commit_has_no_base() {
    let sandbox = Sandbox::empty();
    sandbox.git("", ["init", "-q", "-b", "main", "r"]);
    let before = sandbox.image();
    let run = sandbox.shadow("r", ["list", "--json"]).exits(0);
    assert!(run.shadows().is_empty(), "{run:#?}");
    assert_eq!(before.changes(&sandbox.image()), [""; 0]);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let sandbox = landed();
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_git-shadow"));
    let script =
        format!("set +o pipefail; {{ '{}' list; echo $? >&2; }} 2>status | true; cat status", binary.display());
    let said = sandbox.sh("r", &script);
    assert!(said.trim() == "0" || said.trim().ends_with("\n0"), "{said}");
}
