//! The installer's demo, with the binary that was built for the tests laid beside it.

use fs_err as fs;

use crate::harness::{Run, Sandbox};

fn installer(sandbox: &Sandbox, shell: &str, args: &[&str]) -> Run {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir_all(sandbox.path("kit")).unwrap();
    fs::copy(root.join("install.sh"), sandbox.path("kit/install.sh")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_git-shadow"), sandbox.path("kit/git-shadow")).unwrap();
    fs::create_dir_all(sandbox.path("kit/man")).unwrap();
    for page in ["git-shadow.1", "git-shadow-list.1", "shadowrc.5"] {
        fs::copy(root.join("man").join(page), sandbox.path("kit/man").join(page)).unwrap();
    }
    let output = sandbox.command(shell, sandbox.root()).arg("kit/install.sh").args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run { status: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

fn files(sandbox: &Sandbox) -> String {
    sandbox.sh("", "find home tmp ! -type d | sort")
}

/// The program, its manual, and completion where the shells look for it.
const INSTALLED: &str = "\
home/.local/bin/git-shadow
home/.local/share/bash-completion/completions/git-shadow
home/.local/share/fish/vendor_completions.d/git-shadow.fish
home/.local/share/git-shadow/installed
home/.local/share/man/man1/git-shadow-list.1
home/.local/share/man/man1/git-shadow.1
home/.local/share/man/man5/shadowrc.5
home/.local/share/zsh/site-functions/_git-shadow";

#[test]
fn the_demo_shows_list_prune_and_undo_and_leaves_only_what_was_installed() {
    for shell in ["dash", "bash"] {
        let sandbox = Sandbox::empty();
        let run = installer(&sandbox, shell, &["--demo"]).exits(0);
        for shown in ["$ git shadow list", "$ git shadow prune-sessions --yes", "$ git shadow log", "$ git shadow undo"]
        {
            assert!(run.stdout.contains(shown), "{shown}: {run:#?}");
        }
        let listed = run.stdout.split("$ git shadow prune-sessions").next().unwrap();
        for kind in [
            "squashed",
            "rebased",
            "merged",
            "purged",
            "built",
            "unused",
            "pushed",
            "unpushed",
            "new",
            "dirty",
            "untracked",
            "ignored",
            "locked",
            "rebasing",
            "live",
            "(detached)",
            "left-over",
        ] {
            assert!(listed.contains(kind), "{kind} is not listed: {run:#?}");
        }
        let end = run.stdout.split("$ git shadow undo").last().unwrap();
        assert!(end.contains("as it was before; only target/ is not"), "undo brought all back: {run:#?}");
        assert_eq!(files(&sandbox), INSTALLED);
    }
}
