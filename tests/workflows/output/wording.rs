//! Nothing in the forms for people is said twice, left out or misleading.

use git_shadow::model::{Because, Code, Fact, Half, Hold, How, On, Outcome, StepKind, Verdict};
use git_shadow::report::{SessionRoot, ShadowReport, View, human};

use super::made::{Made as _, branch, canvas, report, repository};

fn in_part(name: &[u8]) -> ShadowReport {
    branch(name, "5555555", 99).at("/w/repo-kept").held(Code::Unlanded, On::Branch, "pushed, not landed").with(
        |report| {
            report.judgement.verdict = Verdict::Partial;
            report.judgement.worktree = Some(Half::Release);
            report.judgement.because = Some(Because::KeptElsewhere);
        },
    )
}

fn going(name: &[u8]) -> ShadowReport {
    branch(name, "9b01d7e", 80).landed(How::Squash, "1c44e0a")
}

#[test]
fn a_code_is_counted_once_whatever_it_is_on() {
    let held = |n: usize| {
        let (code, on) =
            if n.is_multiple_of(2) { (Code::Unpushed, On::Branch) } else { (Code::UnpushedHead, On::Both) };
        branch(format!("aos/h{n}").as_bytes(), "3f2a91c", 2).held(code, on, "only here")
    };
    let report = report("prune-sessions", true, vec![repository("/w/repo", (0..50).map(held).collect())]);
    let folded = human::render(&report, &View::default(), &canvas(None)).text;
    assert!(folded.contains("\n… 50 held: 50 unpushed; 'git shadow list --held' shows them\n"), "{folded}");
    let census = human::render(&report, &View { summary: true, ..View::default() }, &canvas(None)).text;
    assert_eq!(census.matches("unpushed").count(), 1, "{census}");
    assert!(census.contains("     50      50  unpushed"), "{census}");
}

#[test]
fn what_goes_in_part_is_counted_apart() {
    let planned = vec![going(b"aos/a"), in_part(b"aos/b")];
    let would = human::render(
        &report("prune-sessions", true, vec![repository("/w/repo", planned.clone())]),
        &View::default(),
        &canvas(None),
    );
    assert!(would.text.starts_with("would release 1 of 2 shadows, 1 in part\n"), "{}", would.text);
    let done = planned.into_iter().map(|shadow| shadow.step(StepKind::DropRegistration, Outcome::Done, None));
    let done = report("prune-sessions", false, vec![repository("/w/repo", done.collect())]);
    let text = human::render(&done, &View::default(), &canvas(None)).text;
    assert_eq!(text.lines().last(), Some("released 1, 1 in part"), "{text}");
}

#[test]
fn what_helps_is_said_once() {
    let held = |name: &[u8]| branch(name, "3f2a91c", 2).held(Code::Dirty, On::Worktree, "1 path changed: f");
    let shadows = vec![going(b"aos/a"), held(b"aos/b"), held(b"aos/c").held(Code::Unpushed, On::Branch, "only here")];
    let report = report("prune-sessions", true, vec![repository("/w/repo", shadows)]);
    let help =
        ["dirty: remedy of dirty", "unpushed: remedy of unpushed", "'git shadow explain aos/b' shows the evidence"];
    let hints = human::render(&report, &View::default(), &canvas(None)).hints;
    assert_eq!(hints[0], "nothing was changed; run 'git shadow prune-sessions --yes' to release");
    assert_eq!(hints[1..4], help);
    let hints = human::render(&report, &View { asks: true, ..View::default() }, &canvas(None)).hints;
    assert_eq!(hints[..3], help, "a question follows, and says how to go on");
}

#[test]
fn session_folders_that_go_are_shown_before_and_after() {
    let hold = |code| Hold { code, on: On::Worktree, message: "it waits".into(), remedy: None };
    let root = |path: &str, holds| SessionRoot { path: path.into(), holds };
    let told = |dry_run, verbose| {
        let mut report = report("prune-sessions", dry_run, vec![repository("/w/repo", vec![going(b"aos/a")])]);
        report.session_roots = vec![
            root("/s/ab45", Vec::new()),
            root("/s/cd56", vec![hold(Code::Live)]),
            root("/s/ef67", vec![hold(Code::Untracked)]),
        ];
        human::render(&report, &View { verbose, ..View::default() }, &canvas(None)).text
    };
    let plan = "would delete 1 session folder that nothing is left in\n - /s/ab45\n = /s/ef67  held: it waits\n";
    assert!(told(true, false).ends_with(plan), "{}", told(true, false));
    assert!(told(true, true).contains(" = /s/cd56  held: it waits\n"));
    let done = told(false, false);
    let lines = " - [deleted]   /s/ab45  nothing was left in it\n = [held]      /s/ef67  it waits\n";
    assert!(done.contains(lines) && done.ends_with(", deleted 1 session folder\n"), "{done}");
}

#[test]
fn that_no_base_can_be_told_is_not_hidden_behind_other_holds() {
    let shadow = branch(b"aos/a", "3f2a91c", 2).held(Code::Unpushed, On::Branch, "only here");
    let mut repository = repository("/w/repo", vec![shadow]);
    repository.facts.bases = Fact::Unknown("base 'origin/nope' does not exist; fetch it, or change 'base'".into());
    for command in ["list", "prune-sessions"] {
        let page = human::render(&report(command, true, vec![repository.clone()]), &View::default(), &canvas(None));
        assert!(page.hints.iter().any(|hint| hint.starts_with("base 'origin/nope'")), "{:?}", page.hints);
    }
}

#[test]
fn without_shadows_a_plan_reads_like_a_list() {
    let mine = vec![branch(b"mine", "abcdef0", 1).foreign()];
    let [list, plan] = ["list", "prune-sessions"].map(|command| {
        human::render(
            &report(command, true, vec![repository("/w/repo", mine.clone())]),
            &View::default(),
            &canvas(None),
        )
    });
    assert_eq!(plan, list);
    let nowhere = human::render(&report("list", true, Vec::new()), &View::default(), &canvas(None));
    assert_eq!(nowhere.text, "no repositories\n");
}

#[test]
fn a_narrow_terminal_shows_reasons_rather_than_tips_and_ages() {
    let report = report("list", true, vec![repository("/w/repo", vec![going(b"aos/claude/cd56")])]);
    let head = |width| {
        let text = human::render(&report, &View::default(), &canvas(Some(width))).text;
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(head(80), "  SHADOW           TIP      AGE  VERDICT  WHY");
    assert_eq!(head(60), "  SHADOW           AGE  VERDICT  WHY");
    assert_eq!(head(52), "  SHADOW           VERDICT  WHY");
}

#[test]
fn a_plan_and_what_was_done_break_at_words_below_themselves() {
    let message = "2 paths changed: src/schema.rs, src/schema/of/the/second/kind.rs";
    let shadows = vec![going(b"aos/a"), branch(b"aos/b", "77aa013", 2).held(Code::Dirty, On::Worktree, message)];
    let text = |command: &'static str, dry_run| {
        let report = report(command, dry_run, vec![repository("/w/repo", shadows.clone())]);
        human::render(&report, &View::default(), &canvas(Some(60))).text
    };
    let planned = text("prune-sessions", true);
    let below = " = aos/b  held: 2 paths changed: src/schema.rs,\n                src/schema/of/the/second/kind.rs\n";
    assert!(planned.contains(below), "{planned}");
    let done = text("prune-sessions", false);
    let below = "= [held]      aos/b  2 paths changed: src/schema.rs,\n                      src/schema/of/the/second/kind.rs\n";
    assert!(done.contains(below), "{done}");
    assert!([planned, done].iter().all(|text| text.lines().all(|line| line.chars().count() <= 60)));
}
