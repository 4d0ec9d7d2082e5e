//! How the command behaves: exit codes, help, bad usage, streams, several repositories, names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::Stdio;

use fs_err as fs;

use crate::harness::Sandbox;

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn help_and_version_are_answers() {
    let sandbox = Sandbox::empty();
    for line in ["-h", "--help", "list -h", "prune-sessions --help", "explain -h"] {
        let run = sandbox.shadow("", words(line)).exits(0);
        assert!(run.stdout.contains("Usage: git shadow"), "{line}: {run:#?}");
        assert_eq!(run.stderr, "", "{line}");
    }
    let overview = sandbox.shadow("", ["-h"]).stdout;
    for (command, about) in [("list", "List every shadow"), ("explain", "Show every fact"), ("release", "Release just")]
    {
        assert!(overview.contains(&format!("  {command:14}  {about}")), "{overview}");
        let help = sandbox.shadow("", [command, "-h"]).stdout;
        assert!(help.starts_with(about), "{help}");
        assert!(help.find("--under").unwrap() > help.find("Everywhere:").unwrap(), "{help}");
    }
    assert!(!sandbox.shadow("", ["list", "-h"]).stdout.split("Everywhere:").nth(1).unwrap().contains("--held"));
    let run = sandbox.shadow("", ["--version"]).exits(0);
    assert_eq!(run.stdout, format!("git-shadow {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn bad_usage_is_worded_as_git_does() {
    let sandbox = Sandbox::mk();
    for (line, said) in [
        ("lst", "error: 'lst' is not a git shadow command\nhint: did you mean 'list'?\n"),
        ("list --sumary", "error: unknown option '--sumary'\nhint: did you mean '--summary'?\n"),
        ("list -x", "error: unknown option '-x'\n"),
        ("list somewhere", "error: unexpected argument 'somewhere'\n"),
        ("explain a b", "error: unexpected argument 'b'\n"),
        ("list --repo", "error: option '--repo <DIR>' requires a value\n"),
        ("list --color=blue", "error: invalid value 'blue' for '--color[=<WHEN>]'\nhint: one of 'auto'"),
        ("prune-sessions -n --yes", "error: options '--dry-run' and '--yes' cannot be used together\n"),
        ("list --json -z", "error: options '--json' and '--porcelain' cannot be used together\n"),
        ("--json list --porcelain", "error: options '--json' and '--porcelain' cannot be used together\n"),
        ("list -q -v", "error: options '-q' and '-v' cannot be used together\n"),
        ("release", "error: missing '<SHADOW>...'\n"),
    ] {
        let run = sandbox.shadow("r", words(line)).exits(129);
        assert!(run.stderr.starts_with(said), "{line}: {run:#?}");
        assert_eq!(run.stdout, "", "{line}");
    }
    let run = sandbox.shadow("r", [""; 0]).exits(129);
    assert!(run.stderr.contains("Usage: git shadow"), "{run:#?}");
}

#[test]
fn no_repository_is_fatal_also_for_programs() {
    let sandbox = Sandbox::empty();
    fs::create_dir(sandbox.path("nothing")).unwrap();
    let run = sandbox.shadow("nothing", ["list"]).exits(128);
    assert!(run.stderr.starts_with("fatal: not a git repository"), "{run:#?}");
    assert!(run.stderr.contains("\nhint: "), "{run:#?}");
    assert_eq!(run.stdout, "");
    let run = sandbox.shadow("nothing", ["list", "--json"]).exits(128);
    let json = run.json();
    assert_eq!(json["schema"], "git-shadow.report.v1");
    assert_eq!(json["repositories"][0]["path"], sandbox.path("nothing").to_str().unwrap());
    assert_eq!(json["repositories"][0]["errors"][0]["code"], "not-a-repository");
    assert!(run.stderr.starts_with("fatal: "), "{run:#?}");
    assert!(sandbox.shadow("nothing", ["-C", "nowhere", "list"]).exits(128).stderr.starts_with("fatal: cannot change"));
}

#[test]
fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    for args in [&["list"][..], &["list", "--json"], &["--help"], &["explain", "a"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_git-shadow"), &sandbox.repo());
        let output =
            command.args(args).stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("fatal"), "{args:?}: {output:?}");
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_git-shadow"), &sandbox.repo());
    let output = command.arg("list").stdout(full.into_parts().0).output().unwrap();
    assert_eq!(output.status.code(), Some(128));
    assert!(String::from_utf8_lossy(&output.stderr).contains("fatal: write failure on standard output"), "{output:?}");
}

#[test]
fn colour_is_for_terminals_pagers_and_those_who_ask() {
    let mut sandbox = Sandbox::mk();
    sandbox.wt("a");
    let coloured = |sandbox: &Sandbox, args: &[&str]| sandbox.shadow("r", args).exits(0).stdout.contains('\x1b');
    assert!(!coloured(&sandbox, &["list"]));
    assert!(coloured(&sandbox, &["list", "--color=always"]));
    assert!(coloured(&sandbox, &["--color", "list"]));
    sandbox.set("GIT_PAGER_IN_USE", "1");
    assert!(coloured(&sandbox, &["list"]));
    assert!(!coloured(&sandbox, &["list", "--color=never"]));
    assert!(!coloured(&sandbox, &["list", "--json"]));
    assert!(!coloured(&sandbox, &["list", "--porcelain"]));
    sandbox.set("NO_COLOR", "");
    assert!(coloured(&sandbox, &["list"]), "an empty NO_COLOR does not count");
    sandbox.set("NO_COLOR", "1");
    assert!(!coloured(&sandbox, &["list"]));
    assert!(coloured(&sandbox, &["list", "--color=always"]), "the option wins");
    sandbox.unset("NO_COLOR");
    sandbox.set("TERM", "dumb");
    assert!(!coloured(&sandbox, &["list"]));
}

#[test]
fn the_pager_gets_lines_of_its_width() {
    let mut sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.write("a/a-rather-long-name-of-a-file-that-nobody-has-added-yet", "x");
    sandbox.age("a", 48);
    sandbox.set("COLUMNS", "72");
    let row = |sandbox: &Sandbox| {
        let text = sandbox.shadow("r", ["list"]).exits(0).stdout;
        text.lines().find(|line| line.contains("aos/a")).unwrap().to_owned()
    };
    assert!(row(&sandbox).chars().count() > 72, "a file gets all of it");
    sandbox.set("GIT_PAGER_IN_USE", "1");
    sandbox.set("TERM", "dumb");
    assert_eq!(row(&sandbox).chars().count(), 72);
    assert!(row(&sandbox).ends_with('…'));
}

#[test]
fn hints_can_be_turned_off() {
    let mut sandbox = Sandbox::mk();
    sandbox.git("r", ["branch", "feature"]);
    assert!(sandbox.shadow("r", ["list"]).exits(0).stderr.contains("hint: 'git shadow init --detect'"));
    assert_eq!(sandbox.shadow("r", ["list", "-q"]).exits(0).stderr, "");
    sandbox.set("GIT_ADVICE", "0");
    assert_eq!(sandbox.shadow("r", ["list"]).exits(0).stderr, "");
}

#[test]
fn several_repositories_and_one_that_fails() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.git("", ["init", "-q", "-b", "main", "deep/er/s"]);
    sandbox.git("", ["init", "-q", "--bare", "-b", "main", "deep/b.git"]);
    for skipped in ["deep/node_modules/p", "r/target/q"] {
        sandbox.git("", ["init", "-q", "-b", "main", skipped]);
    }
    std::os::unix::fs::symlink("..", sandbox.path("deep/loop")).unwrap();
    let broken = sandbox.path("deep/broken");
    sandbox.git("", ["init", "-q", "-b", "main", "deep/broken"]);
    fs::write(broken.join(".git/config"), "[extensions]\n\tunheardOf = true\n[core]\n\trepositoryformatversion = 1\n")
        .unwrap();
    let run = sandbox.shadow("", ["list", "--json", "--under", "."]).exits(2);
    let json = run.json();
    let repositories = json["repositories"].as_array().unwrap();
    let paths: Vec<&str> = repositories.iter().map(|r| r["path"].as_str().unwrap()).collect();
    let expected = ["deep/b.git", "deep/broken", "deep/er/s", "r"].map(|name| sandbox.path(name));
    assert_eq!(paths, expected.each_ref().map(|path| path.to_str().unwrap()));
    let failed: Vec<usize> = repositories.iter().map(|r| r["errors"].as_array().unwrap().len()).collect();
    assert_eq!(failed, [0, 1, 0, 0], "{json:#}");
    assert_eq!(repositories[1]["errors"][0]["code"], "unsupported-format");
    assert_eq!(repositories[3]["shadows"][0]["name"], "aos/a");
    assert!(run.stderr.starts_with("error: '"), "{run:#?}");
}

#[test]
fn a_repository_is_taken_once_by_whatever_way_it_is_named() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    fs::create_dir(sandbox.path("r/sub")).unwrap();
    let args = ["list", "--json", "--repo", "r", "--repo", "a", "--repo", "r/sub", "--under", "r"];
    let json = sandbox.shadow("", args).exits(0).json();
    assert_eq!(json["repositories"].as_array().unwrap().len(), 1, "{json:#}");
    let run = sandbox.shadow("", ["list", "--repo", "r", "--repo", "nowhere"]).exits(2);
    assert!(run.stdout.contains("aos/a") && run.stderr.contains("nowhere"), "{run:#?}");
    sandbox.shadow("", ["-C", "r", "-C", "sub", "list"]).exits(0);
    sandbox.shadow("", ["-C", "r", "list", "-C", "sub"]).exits(0);
    let both = sandbox.shadow("", ["--repo", "r", "list", "--repo", "nowhere", "--json"]).exits(2).json();
    assert_eq!(both["summary"]["repositories"], 2, "an option before the command and one behind it both count");
    sandbox.shadow("", ["list", "--under", "nowhere"]).exits(2);
}

#[test]
fn the_environment_of_a_hook_does_not_lead_elsewhere() {
    let mut sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.git("", ["init", "-q", "-b", "main", "other"]);
    sandbox.set("GIT_DIR", sandbox.path("other/.git").to_str().unwrap());
    sandbox.set("GIT_WORK_TREE", sandbox.path("other").to_str().unwrap());
    assert_eq!(sandbox.json(&["list"]).exits(0).shadow("aos/a")["name"], "aos/a");
}

#[test]
fn names_that_are_no_text_are_shown_safely_and_told_whole() {
    let sandbox = Sandbox::mk();
    let branch = OsString::from_vec(b"aos/\xff".to_vec());
    let path = OsString::from_vec(b"../w\x1b[31m\xff".to_vec());
    let add = ["worktree", "add", "-q", "-b"].map(OsStr::new);
    sandbox.git("r", add.into_iter().chain([branch.as_os_str(), path.as_os_str()]));
    let text = sandbox.shadow("r", ["list", "--color=never"]).exits(0).stdout;
    assert!(text.contains(r"aos/\377"), "{text}");
    for args in [&["list"][..], &["prune-sessions", "-n"], &["list", "--porcelain"]] {
        let text = sandbox.shadow("r", args).stdout;
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
    let shadow = &sandbox.json(&["list"]).exits(0).shadows()[0];
    assert_eq!(shadow["branch"]["ref_hex"], "726566732f68656164732f616f732fff");
    assert!(shadow["worktree"]["path_hex"].as_str().unwrap().ends_with("771b5b33316dff"), "{shadow:#}");
    // And the name as it is finds it.
    let explained = sandbox.shadow("r", [OsStr::new("explain"), OsStr::from_bytes(b"aos/\xff")]).exits(0);
    assert!(explained.stdout.starts_with(r"aos/\377: "), "{explained:#?}");
}

#[test]
fn a_shadow_has_many_names_and_an_ambiguous_one_is_refused() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/claude/ab45", "../one"]);
    sandbox.git("r", ["branch", "aos/codex/ab45"]);
    let path = sandbox.path("one");
    let name = |word: &str| sandbox.json(&["explain", word]).exits(0).shadows()[0]["name"].as_str().unwrap().to_owned();
    for word in ["aos/claude/ab45", "refs/heads/aos/claude/ab45", "one", "../one", path.to_str().unwrap()] {
        assert_eq!(name(word), "aos/claude/ab45", "{word}");
    }
    let run = sandbox.shadow("r", ["explain", "ab45"]).exits(128);
    assert!(run.stderr.starts_with("fatal: 'ab45' is ambiguous"), "{run:#?}");
    assert!(run.stderr.contains("hint:   refs/heads/aos/codex/ab45"), "{run:#?}");
    let run = sandbox.shadow("r", ["explain", "ab46"]).exits(128);
    assert!(run.stderr.contains("hint: did you mean"), "{run:#?}");
    // Without a name: the worktree one stands in.
    fs::create_dir(path.join("sub")).unwrap();
    let run = sandbox.shadow("one/sub", ["explain"]).exits(0);
    assert!(run.stdout.starts_with("aos/claude/ab45: held, current worktree"), "{run:#?}");
    sandbox.shadow("r", ["explain"]).exits(128);
}

#[test]
fn the_exit_code_tells_whether_something_can_go() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.shadow("r", ["list", "--exit-code"]).exits(0);
    sandbox.age("a", 48);
    sandbox.shadow("r", ["list"]).exits(0);
    sandbox.shadow("r", ["list", "--exit-code"]).exits(1);
}

#[test]
fn list_explain_and_dry_run_tell_the_same() {
    let sandbox = Sandbox::mk();
    sandbox.wt("unused");
    sandbox.age("unused", 48);
    sandbox.wt("work");
    sandbox.ci("work");
    let mut listed = sandbox.json(&["list"]).exits(0).json();
    let mut planned = sandbox.json(&["prune-sessions", "-n"]).exits(0).json();
    for json in [&mut listed, &mut planned] {
        json["command"].take();
        json["generated_at"].take();
        json["repositories"][0]["shadows"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|shadow| _ = shadow["age_s"].take());
    }
    assert_eq!(listed, planned);
    let mut explained = sandbox.json(&["explain", "unused"]).exits(0).shadow("aos/unused");
    explained["age_s"].take();
    assert_eq!(explained, listed["repositories"][0]["shadows"][0]);
    let steps: Vec<&str> = explained["steps"].as_array().unwrap().iter().map(|s| s["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["move-worktree", "drop-registration", "delete-branch", "delete-files"]);
}

#[test]
fn a_real_run_says_what_it_did_and_how_to_take_it_back() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    sandbox.age("a", 1);
    let run = sandbox.shadow("r", ["prune-sessions"]).exits(0);
    assert!(run.stderr.contains("nobody can be asked: this was a dry run"), "{run:#?}");
    assert!(sandbox.has_branch("aos/a"));
    let run = sandbox.shadow("r", ["prune-sessions", "--yes"]).exits(0);
    assert!(run.stdout.starts_with(" - [released]  aos/a  landed on main as "), "{run:#?}");
    assert!(run.stdout.contains("\nreleased 1 (operation "), "{run:#?}");
    assert!(run.stderr.contains("hint: 'git shadow undo' takes it back until 20"), "{run:#?}");
    sandbox.assert_released("a");
}

#[test]
fn what_only_reads_writes_nothing() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    sandbox.wt("b");
    sandbox.write("b/new", "x");
    let before = sandbox.image();
    for line in ["list", "list --all --json", "list --porcelain -z", "list --summary", "explain a", "explain b --json"]
    {
        sandbox.shadow("r", words(line)).exits(0);
        assert_eq!(before.changes(&sandbox.image()), [""; 0], "{line}");
    }
}

/// A session may sit in a worktree that another run has released.
#[test]
fn a_working_directory_that_is_gone_is_told() {
    let sandbox = Sandbox::mk();
    let script = format!("mkdir gone; cd gone; rmdir ../gone; exec {} list", env!("CARGO_BIN_EXE_git-shadow"));
    let output = sandbox.command("sh", sandbox.root()).args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(128) && said.contains("hint: it may have been released"), "{said}");
}

#[test]
fn an_error_is_one_line_whatever_it_quotes() {
    let sandbox = Sandbox::mk();
    sandbox.sh("r", "printf '[[\\n' >> .git/config");
    let said = sandbox.shadow("r", ["list"]).exits(128).stderr;
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
}
