//! Completion, in the shells themselves: what a press of the TAB key makes of a line.

use std::path::{Path, PathBuf};

use crate::harness::{Sandbox, skip};
use crate::pty::Terminal;

fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::mk();
    sandbox.landed("claude/ab45");
    sandbox.landed("claude/ab67");
    sandbox.wt("codex/cd56");
    sandbox.git("r", ["branch", "-q", "aos/$(touch${IFS}x)"]);
    let bin = Path::new(env!("CARGO_BIN_EXE_git-shadow")).parent().unwrap().display();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    sandbox.set("PATH", path);
    sandbox.set("PS1", "ready> ");
    sandbox
}

/// What the scripts are given, a value a line.
fn candidates(sandbox: &Sandbox, line: &[&str]) -> Vec<String> {
    let words = ["completion", "fish", "--", "git-shadow"].iter().chain(line);
    let text = sandbox.shadow("r", words).exits(0).stdout;
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn is_there(shell: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&paths).any(|dir| dir.join(shell).is_file());
    if !found {
        skip(&format!("completion in {shell}"), "it is not installed");
    }
    found
}

#[test]
fn every_command_and_option_is_a_candidate() {
    use clap::CommandFactory as _;
    let sandbox = Sandbox::mk();
    let cli = git_shadow::cli::Cli::command();
    let commands = candidates(&sandbox, &[""]);
    for command in cli.get_subcommands().filter(|command| !command.is_hide_set()) {
        assert!(commands.iter().any(|name| name == command.get_name()), "{commands:?}");
        let options = candidates(&sandbox, &[command.get_name(), "--"]);
        for long in command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(clap::Arg::get_long) {
            assert!(options.contains(&format!("--{long}")), "{} {long}: {options:?}", command.get_name());
        }
    }
    assert_eq!(candidates(&sandbox, &["list", "--color="]), ["--color=auto", "--color=always", "--color=never"]);
    assert_eq!(
        candidates(&sandbox, &["list", "--format", "%(name) %(tip"]),
        ["%(name) %(tip)", "%(name) %(tip:short)"]
    );
}

#[test]
fn shadows_and_operations_are_candidates_where_they_are_meant() {
    let sandbox = sandbox();
    let all = ["aos/claude/ab45", "aos/claude/ab67", "aos/codex/cd56"];
    // A name that would do something in a shell is not among them.
    assert_eq!(candidates(&sandbox, &["release", ""]), all);
    assert_eq!(candidates(&sandbox, &["release", "-n", all[0], "aos/cl"]), all[..2]);
    assert_eq!(candidates(&sandbox, &["explain", "cd"]), ["cd56"]);
    assert_eq!(candidates(&sandbox, &["finish", "ab4"]), ["ab45"]);
    for command in ["list", "undo"] {
        let options = candidates(&sandbox, &[command, ""]);
        assert!(options.iter().all(|name| name.starts_with('-')), "{command}: {options:?}");
    }
    sandbox.shadow("r", ["release", "ab45"]).exits(0);
    let operation = sandbox.shadow("r", ["log", "--json"]).stdout;
    let operation: serde_json::Value = serde_json::from_str(&operation).unwrap();
    let id = operation["operations"][0]["operation"].as_str().unwrap();
    assert_eq!(candidates(&sandbox, &["undo", ""]), [id]);
    assert_eq!(candidates(&sandbox, &["undo", "aos/"]), ["aos/claude/ab45"]);
    // Wherever the shell is, what the line names is looked at.
    let repo = sandbox.repo().display().to_string();
    let elsewhere = |line: &[&str]| {
        let words = ["completion", "bash", "--", "git-shadow"].iter().chain(line);
        sandbox.shadow("tmp", words).exits(0).stdout.lines().count()
    };
    assert_eq!(elsewhere(&["-C", &repo, "explain", ""]), 2);
    assert_eq!(elsewhere(&["explain", "--repo", &repo, "aos/"]), 2);
    assert_eq!(elsewhere(&["explain", "aos"]), 0);
}

#[test]
fn nothing_is_said_where_nothing_can_be_known() {
    let sandbox = Sandbox::empty();
    for line in [&["release", ""][..], &["undo", ""], &["nonsense", ""], &["list", "--nonsense", ""]] {
        let run = sandbox.shadow("tmp", ["completion", "zsh", "--", "git-shadow"].iter().chain(line)).exits(0);
        assert_eq!(run.stderr, "", "{line:?}");
    }
    sandbox.shadow("tmp", ["completion", "bash", "--json"]).exits(129);
    sandbox.shadow("tmp", ["completion", "tcsh"]).exits(129);
}

/// Lines that are typed, and what they must become.
const LINES: &[(&str, &str)] = &[
    ("git-shadow rel", "git-shadow release "),
    ("git-shadow release cd", "git-shadow release cd56 "),
    ("git-shadow release aos/claude/ab4", "git-shadow release aos/claude/ab45 "),
    ("git-shadow list --su", "git-shadow list --summary "),
    ("git-shadow list --color=al", "git-shadow list --color=always "),
];

const GIT_LINES: &[(&str, &str)] = &[
    ("git shadow rel", "git shadow release "),
    ("git shadow explain cd", "git shadow explain cd56 "),
    ("git shadow list --su", "git shadow list --summary "),
    ("git -C ../r shadow explain aos/co", "git -C ../r shadow explain aos/codex/cd56 "),
];

/// Within quotes, which the shell has not closed yet.
const QUOTED: &[(&str, &str)] = &[("git-shadow list --format '%(verd", "git-shadow list --format '%(verdict)")];

/// Type each line and TAB; behind it a mark, so that the end of what is shown is known.
fn press_tab(terminal: &mut Terminal, lines: &[(&str, &str)]) {
    for (typed, becomes) in lines {
        terminal.sees("ready> ").keys(typed).sees(typed).keys("\t");
        // Only what is new is shown.
        terminal.sees(&becomes[typed.len()..]).keys("\u{15}\r");
    }
}

#[test]
fn bash_completes() {
    if !is_there("script") {
        return;
    }
    let sandbox = sandbox();
    let git = Path::new("/usr/share/bash-completion/completions/git");
    let mut rc = "PS1='ready> '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'\n".to_owned();
    rc.push_str("eval \"$(git-shadow completion bash)\"\n");
    let with_git = git.exists();
    if with_git {
        rc.push_str(&format!("source {}\n", git.display()));
    } else {
        skip("completion of 'git shadow' in bash", "git's completion is not installed");
    }
    sandbox.write("rc", rc);
    let mut terminal = Terminal::run(&sandbox, "r", 200, "bash --noprofile --rcfile ../rc -i");
    press_tab(&mut terminal, LINES);
    press_tab(&mut terminal, QUOTED);
    if with_git {
        press_tab(&mut terminal, GIT_LINES);
    }
    terminal.sees("ready> ").keys("exit\r");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn zsh_completes() {
    if !is_there("zsh") || !is_there("script") {
        return;
    }
    let sandbox = sandbox();
    let script = sandbox.shadow("r", ["completion", "zsh"]).exits(0).stdout;
    sandbox.write("home/functions/_git-shadow", script);
    sandbox.write(
        "home/.zshrc",
        "PS1='ready> '; zle_highlight=(default:none suffix:none); setopt no_beep no_list_ambiguous\n\
         fpath=(~/functions $fpath); autoload -U compinit; compinit -u -D\n",
    );
    let mut terminal = Terminal::run(&sandbox, "r", 200, "zsh -i");
    press_tab(&mut terminal, LINES);
    press_tab(&mut terminal, QUOTED);
    press_tab(&mut terminal, &GIT_LINES[..3]);
    terminal.sees("ready> ").keys("exit\r");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn fish_completes() {
    if !is_there("fish") {
        return;
    }
    let sandbox = sandbox();
    let mut script = "git-shadow completion fish | source\n".to_owned();
    for (typed, _) in LINES.iter().chain(GIT_LINES) {
        script.push_str(&format!("complete -C '{typed}'; echo end of line\n"));
    }
    sandbox.write("test.fish", script);
    let output = sandbox.command("fish", &sandbox.repo()).arg(sandbox.path("test.fish")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for ((typed, becomes), answer) in LINES.iter().chain(GIT_LINES).zip(text.split("end of line\n")) {
        let last = becomes.trim_end().rsplit(' ').next().unwrap();
        let values: Vec<_> = answer.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(values, [last], "{typed}: {text}");
    }
}

#[test]
fn the_scripts_are_clean() {
    let sandbox = Sandbox::empty();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if is_there(shell) {
            let script: PathBuf = sandbox.path(shell);
            sandbox.write(&script, sandbox.shadow("", ["completion", shell]).exits(0).stdout);
            let output = sandbox.command(shell, sandbox.root()).arg(check).arg(&script).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
        }
    }
}
