//! `list --format`: lines for prompts and pickers.

use git_shadow::report::fields::FIELDS;

use crate::harness::Sandbox;

fn some() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.landed("gone");
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    sandbox.wt("kept");
    sandbox.ci("kept");
    sandbox.write("kept/f", "edit\n");
    sandbox.git("r", ["branch", "-q", "mine"]);
    sandbox
}

#[test]
fn each_field_is_what_the_report_for_programs_says() {
    let sandbox = some();
    let names = "%(name)|%(branch)|%(branch:short)|%(tip)|%(path)|%(registration)|%(verdict)|%(because)|%(code)|%(codes)|\
                 %(unpushed)|%(landed:how)|%(landed:base)|%(state)|%(current)|%(repository)|%(session)";
    let text = sandbox.shadow("r", ["list", "--format", names]).exits(0).stdout;
    let (gone, kept) = (sandbox.git("gone", ["rev-parse", "HEAD"]), sandbox.git("kept", ["rev-parse", "HEAD"]));
    let root = sandbox.root().display();
    let rows = [
        format!(
            "aos/gone|refs/heads/aos/gone|aos/gone|{gone}|{root}/gone|gone|release|landed|||\
             1|squash|refs/remotes/origin/main|present| |{root}/r|"
        ),
        format!(
            "aos/kept|refs/heads/aos/kept|aos/kept|{kept}|{root}/kept|kept|held||dirty|dirty unpushed|1|||present| |{root}/r|"
        ),
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), rows);

    let more = "%(tip:short) %(head:none)";
    let wrong = sandbox.shadow("r", ["list", "--format", more]).exits(128);
    assert_eq!(wrong.stdout, "");
    assert_eq!(wrong.stderr, "fatal: unknown field name: head:none\nhint: did you mean 'head'?\n");
}

#[test]
fn every_field_can_be_asked_for_and_is_in_the_help() {
    let sandbox = some();
    let help = sandbox.shadow("r", ["list", "--help"]).exits(0).stdout;
    for field in FIELDS {
        let format = format!("<%({})>", field.name);
        let text = sandbox.shadow("r", ["list", "--all", "--format", &format]).exits(0).stdout;
        assert_eq!(text.lines().filter(|line| line.starts_with('<') && line.ends_with('>')).count(), 4, "{text}");
        assert!(help.lines().any(|line| line.trim().starts_with(&format!("{}  ", field.name))), "{}", field.name);
    }
}

#[test]
fn the_selection_and_the_line_ends_are_those_of_list() {
    let sandbox = some();
    let list = |args: &[&str]| sandbox.shadow("r", ["list", "--format=%(name)"].iter().chain(args)).exits(0).stdout;
    assert_eq!(list(&[]), "aos/gone\naos/kept\n");
    assert_eq!(list(&["--all"]), "aos/gone\naos/kept\nmain\nmine\n");
    assert_eq!(list(&["--held"]), "aos/kept\n");
    assert_eq!(list(&["-z", "--releasable"]), "aos/gone\0");
    assert_eq!(list(&["--under", ".."]), "aos/gone\naos/kept\n");
    sandbox.shadow("r", ["list", "--format=%(name)", "--exit-code"]).exits(1);
    for other in ["--json", "--porcelain", "--summary"] {
        let run = sandbox.shadow("r", ["list", "--format=%(name)", other]).exits(129);
        assert!(run.stderr.contains("cannot be used together"), "{run:#?}");
    }
    let empty = Sandbox::mk();
    let run = empty.shadow("r", ["list", "--format=%(name)"]).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn names_are_bytes_for_programs() {
    let sandbox = Sandbox::mk();
    sandbox.sh("r", "git branch $'aos/a\\xffb'; git worktree add -q --detach $'../w\\x1b[2J'");
    let list = |format: &str| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_git-shadow"), &sandbox.repo());
        command.args(["list", "--all", "--format", format]).output().unwrap().stdout
    };
    assert!(list("%(name)").starts_with(b"aos/a\xffb\n"), "{:?}", list("%(name)"));
    assert!(list("%(path)").ends_with(b"/w\x1b[2J\n"), "{:?}", list("%(path)"));
}

#[test]
fn names_alone_are_told_without_looking_into_worktrees() {
    let sandbox = some();
    // Where status cannot be had, a verdict says so; a name does not need it.
    sandbox.write("r/.git/worktrees/kept/index", "no index");
    let codes = sandbox.shadow("r", ["list", "--format=%(code)", "--held"]).exits(0).stdout;
    assert_eq!(codes, "unverified\n");
    let names = |format: &str| sandbox.shadow("r", ["list", "--format", format]).exits(0).stdout;
    assert_eq!(names("%(name) %(tip:short)").lines().count(), 2);
    assert_eq!(names("%(name)"), names("%(name)%(verdict)").replace("release", "").replace("held", ""));
}
