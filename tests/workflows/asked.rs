//! `prune-sessions` on a terminal: what is shown, asked and chosen there, and that nothing else happens.

use crate::harness::{Sandbox, skip};
use crate::pty::Terminal;

const SHADOW: &str = env!("CARGO_BIN_EXE_git-shadow");

/// Three that may go, and one that may not.
fn four() -> Option<Sandbox> {
    if std::process::Command::new("script").arg("--version").output().is_err() {
        skip("what is asked on a terminal", "there is no 'script' to make one");
        return None;
    }
    let sandbox = Sandbox::mk();
    for x in ["one", "three", "two"] {
        sandbox.landed(x);
    }
    sandbox.wt("kept");
    sandbox.write("kept/f", "edit\n");
    Some(sandbox)
}

fn prune(sandbox: &Sandbox, columns: usize, options: &str) -> Terminal {
    Terminal::run(sandbox, "r", columns, &format!("{SHADOW} prune-sessions --color=never {options}"))
}

/// The cursor is shown again, and keys are echoed.
#[track_caller]
fn terminal_is_as_before(text: &str) {
    let (hidden, shown) = (text.rfind("\x1b[?25l"), text.rfind("\x1b[?25h"));
    assert!(hidden <= shown, "the cursor stays hidden: {text:?}");
    let (paste, plain) = (text.rfind("\x1b[?2004h"), text.rfind("\x1b[?2004l"));
    assert!(paste <= plain, "pasted text stays bracketed: {text:?}");
}

#[test]
fn a_yes_releases_what_was_shown_and_just_that() {
    let Some(sandbox) = four() else { return };
    let mut terminal = prune(&sandbox, 100, "");
    terminal.sees("would release 3 of 4 shadows").sees("aos/one").sees("aos/two");
    terminal.sees("release 3 of 4 shadows? [y/N] ");
    // What becomes free meanwhile was not shown.
    sandbox.git("kept", ["checkout", "-q", "f"]);
    sandbox.age("kept", 48);
    sandbox.ci("two");
    terminal.keys("y\r").sees("released 2");
    terminal.sees("warning: 'aos/two' is not as it was shown any more, and is left alone");
    let (status, text) = terminal.ends();
    assert_eq!(status, 2, "{text}");
    sandbox.assert_released("one");
    sandbox.assert_released("three");
    for kept in ["kept", "two"] {
        assert!(sandbox.has_branch(&format!("aos/{kept}")) && sandbox.path(kept).join("f").exists(), "{kept}: {text}");
    }
}

#[test]
fn what_was_to_stay_stays_though_it_lands_meanwhile() {
    let Some(sandbox) = four() else { return };
    sandbox.origin();
    sandbox.wt("pushed");
    sandbox.ci("pushed");
    sandbox.git("pushed", ["push", "-q", "origin", "aos/pushed"]);
    sandbox.age("pushed", 100);
    for (options, keys) in [("", "y\r"), ("--select", "\x1b[C\r")] {
        let mut terminal = prune(&sandbox, 160, options);
        terminal.sees("aos/pushed").sees(if options.is_empty() { "? [y/N] " } else { "esc nothing" });
        if options.is_empty() {
            sandbox.squash("pushed");
        } else {
            sandbox.git("r", ["reset", "-q", "--hard", "HEAD^"]);
        }
        terminal.keys(keys).sees("'aos/pushed' is not as it was shown any more, and is left alone");
        let (status, text) = terminal.ends();
        assert_eq!(status, 2, "{text}");
        assert!(sandbox.has_branch("aos/pushed") && sandbox.path("pushed").exists(), "{text}");
    }
    sandbox.assert_released("one");
}

#[test]
fn anything_but_a_yes_does_nothing() {
    let Some(sandbox) = four() else { return };
    let before = sandbox.image();
    for (answer, status) in [("n\r", 0), ("\r", 0), ("yeah\r", 0), ("\u{4}", 0), ("\u{3}", 130)] {
        let mut terminal = prune(&sandbox, 100, "");
        terminal.sees("? [y/N] ").keys(answer);
        let (ended, text) = terminal.ends();
        assert_eq!(ended, status, "{answer:?}: {text:?}");
        assert_eq!(text.contains("nothing was changed"), status == 0, "{text:?}");
        assert_eq!(before.changes(&sandbox.image()), [""; 0], "{answer:?}");
    }
}

#[test]
fn only_what_is_chosen_goes() {
    let Some(sandbox) = four() else { return };
    let mut terminal = prune(&sandbox, 100, "--select");
    terminal.sees("release which?").sees("[ ] aos/one").sees("[ ] aos/two").sees("esc nothing");
    terminal.keys(" ").sees("[x] aos/one");
    terminal.keys("\x1b[B\x1b[B ").sees("[x] aos/two");
    terminal.keys("\r").sees("2 chosen").sees("released 2");
    let (status, text) = terminal.ends();
    assert_eq!(status, 0, "{text}");
    assert!(!text.contains("aos/kept"), "{text}");
    terminal_is_as_before(&text);
    sandbox.assert_released("one");
    sandbox.assert_released("two");
    assert!(sandbox.has_branch("aos/three") && sandbox.path("three").exists());
    sandbox.shadow("r", ["undo"]).exits(0);
    assert!(sandbox.has_branch("aos/one") && sandbox.has_branch("aos/two"));
}

#[test]
fn what_changed_while_it_was_chosen_is_judged_again() {
    let Some(sandbox) = four() else { return };
    let mut terminal = prune(&sandbox, 100, "--select");
    terminal.sees("[ ] aos/two");
    sandbox.write("one/new", "only here\n");
    terminal.keys("\x1b[C").sees("[x] aos/two").keys("\r");
    let (_, text) = terminal.ends();
    assert!(sandbox.path("one/new").exists() && sandbox.has_branch("aos/one"), "{text}");
    sandbox.assert_released("two");
}

#[test]
fn nothing_chosen_is_nothing_done_and_the_terminal_is_as_before() {
    let Some(sandbox) = four() else { return };
    let before = sandbox.image();
    for (keys, status) in [("\r", 0), (" \x1b", 0), (" \u{3}", 130), ("\x1b[C\x1b[D\r", 0)] {
        let mut terminal = prune(&sandbox, 100, "--select");
        terminal.sees("[ ] aos/two").sees("esc nothing").keys(keys);
        let (ended, text) = terminal.ends();
        assert_eq!(ended, status, "{keys:?}: {text:?}");
        assert_eq!(text.contains("nothing was changed"), status == 0, "{text:?}");
        terminal_is_as_before(&text);
        assert_eq!(before.changes(&sandbox.image()), [""; 0], "{keys:?}");
    }
}

#[test]
fn a_signal_while_it_is_chosen_leaves_the_terminal_as_before() {
    let Some(sandbox) = four() else { return };
    let chooses = format!("echo $$ > pid; exec {SHADOW} prune-sessions --select");
    let mut terminal = Terminal::run(&sandbox, "r", 100, &format!("sh -c '(sh -c \"$0\"; stty -a)' '{chooses}'"));
    terminal.sees("[ ] aos/two").sees("esc nothing");
    sandbox.sh("r", "kill -TERM $(cat pid)");
    let (_, text) = terminal.ends();
    let modes: Vec<&str> = text.split_whitespace().collect();
    assert!(["icanon", "isig", "opost", "echo"].iter().all(|mode| modes.contains(mode)), "{text:?}");
    terminal_is_as_before(&text);
}

#[test]
fn repositories_without_a_choice_are_not_touched() {
    let Some(sandbox) = four() else { return };
    sandbox.sh("", "git clone -q r other; cd other; git branch -q aos/unused; git config gc.auto 0");
    sandbox.age_log(&sandbox.path("other/.git/logs/refs/heads/aos/unused"), 48);
    let mut terminal =
        Terminal::run(&sandbox, "", 120, &format!("{SHADOW} prune-sessions --color=never --select --under ."));
    terminal.sees("[ ] aos/unused").sees("other").sees("[ ] aos/one").keys(" ").sees("[x] aos/unused");
    terminal.keys(" ").sees("[ ] aos/unused").keys("\x1b[B ").sees("[x] aos/one").keys("\r").sees("released 1");
    let (status, text) = terminal.ends();
    assert_eq!(status, 0, "{text}");
    sandbox.assert_released("one");
    assert!(!sandbox.path("other/.git/shadow").exists(), "{text}");
}

#[test]
fn choices_fit_the_terminal_and_cannot_act_on_it() {
    let Some(sandbox) = four() else { return };
    sandbox.sh("", "git clone -q r $'w\\x1b]0;x\\x07'; cd w*; git branch -q aos/unused");
    sandbox.age_log(&sandbox.path("w\x1b]0;x\x07/.git/logs/refs/heads/aos/unused"), 48);
    for columns in [60, 80, 200] {
        let mut terminal = prune(&sandbox, columns, "--select --under ..");
        terminal.sees("[ ] aos/two").sees("[space marks").keys("\x1b").sees("nothing was changed");
        let (_, text) = terminal.ends();
        assert!(columns < 80 || text.contains(r"w\033]0;x\a"), "{text:?}");
        assert!(!text.contains("\x1b]") && !text.contains('\x07'), "{text:?}");
        assert!(!text.contains("\x1b[3") && !text.contains("\x1b[38"), "coloured: {text:?}");
        for line in text.split("\r\n").filter(|line| line.contains("[ ]")) {
            let shown = line.rsplit("\x1b[").next().unwrap();
            assert!(shown.chars().count() <= columns, "{columns}: {line:?}");
        }
    }
}

#[test]
fn without_a_terminal_nobody_can_choose() {
    let sandbox = Sandbox::mk();
    let run = sandbox.shadow("r", ["prune-sessions", "--select"]).exits(129);
    assert!(run.stderr.starts_with("error: option '--select' needs a terminal"), "{run:#?}");
    assert!(run.stderr.contains("hint: 'git shadow release"), "{run:#?}");
    sandbox.shadow("r", ["prune-sessions", "--select", "--yes"]).exits(129);
    sandbox.shadow("r", ["prune-sessions", "--select", "-n"]).exits(129);
}
