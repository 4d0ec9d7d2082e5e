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

/// The words of a line, without what differs from run to run: ids, ages, process ids, times, temporary names.
fn words(line: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let hex = bare.len() == 7 && bare.bytes().all(|b| b.is_ascii_hexdigit());
        let age = bare.strip_suffix(['s', 'm', 'h', 'd']).is_some_and(|n| n.parse::<u32>().is_ok());
        match bare {
            _ if hex => "ID".to_owned(),
            _ if age => "AGE".to_owned(),
            _ if bare.starts_with("20") && bare.contains('-') => "TIME".to_owned(),
            _ => word.split_once("/demo/").map_or_else(|| word.to_owned(), |(_, end)| end.to_owned()),
        }
    };
    let line = line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    match line.split_once("process ") {
        Some((before, after)) => {
            format!("{before}process PID{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => line,
    }
}

#[test]
fn the_run_in_the_readme_is_the_demo_s() {
    let sandbox = Sandbox::empty();
    let run = installer(&sandbox, "sh", &["--demo"]).exits(0);
    let said: Vec<_> = run.stdout.lines().chain(run.stderr.lines()).map(words).collect();
    let readme = fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let shown = readme.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(shown.lines().count() > 20, "{shown}");
    let other: Vec<_> = shown.lines().filter(|line| *line != "…" && !said.contains(&words(line))).collect();
    assert!(other.is_empty(), "the demo does not say {other:#?}\n{run:#?}");
}
