//! What answers look like, for people, scripts and programs: golden texts of reports made by hand.

mod made;
mod wording;

use git_shadow::error::Error;
use git_shadow::model::{
    Because, Code, Fact, Half, Head, How, Lease, LeaseState, On, Outcome, Place, StepKind, Verdict,
};
use git_shadow::policy::Policy;
use git_shadow::report::{RepositoryReport, ShadowReport, Summary, View, explain, human, json, porcelain};
use git_shadow::ui::Canvas;
use made::{Made as _, branch, canvas, hours_ago, oid, report, repository};

/// A text that stands in the source with a line end before it.
#[track_caller]
fn golden(text: &str, expected: &str) {
    let expected = expected.strip_prefix('\n').unwrap();
    assert!(text == expected, "not as expected:\n{text}");
}

fn several() -> Vec<ShadowReport> {
    vec![
        branch(b"aos/claude/ab45", "3f2a91c", 2).at("/w/repo-ab45").current().held(
            Code::Current,
            On::Worktree,
            "current worktree",
        ),
        branch(b"aos/claude/cd56", "9b01d7e", 80).at("/w/repo-cd56").landed(How::Squash, "1c44e0a"),
        branch(b"aos/codex/ef67", "77aa013", 150)
            .at("/w/repo-ef67")
            .held(Code::Dirty, On::Worktree, "1 path changed: src/schema.rs")
            .held(Code::Unpushed, On::Branch, "2 commits exist on no remote"),
        branch(b"aos/goose/gh78", "c0ffee1", 500).landed(How::Ancestor, "1c44e0a"),
        branch(b"feature/mine", "abcdef0", 1).foreign(),
    ]
}

#[test]
fn a_list_for_people() {
    let report = report("list", true, vec![repository("/w/repo", several())]);
    let page = human::render(&report, &View::default(), &canvas(None));
    golden(
        &page.text,
        r"
  SHADOW           TIP      AGE  VERDICT  WHY
* aos/claude/ab45  3f2a91c  2h   held     current worktree
+ aos/claude/cd56  9b01d7e  3d   release  landed on origin/main as 1c44e0a (squash)
+ aos/codex/ef67   77aa013  6d   held     1 path changed: src/schema.rs (+1 more)
  aos/goose/gh78   c0ffee1  20d  release  landed: ancestor of origin/main
4 shadows: 2 to release, 2 held
",
    );
    let fetched = "base 'origin/main' last fetched 3 h ago; 'git shadow prune-sessions --fetch' looks again";
    assert_eq!(page.hints, [fetched]);
}

#[test]
fn a_list_shows_what_was_asked_for() {
    let report = report("list", true, vec![repository("/w/repo", several())]);
    let names = |view: View| {
        let text = human::render(&report, &view, &canvas(None)).text;
        let rows = text
            .lines()
            .filter(|line| line.contains("  held  ") || line.contains("  release  ") || line.contains("  foreign  "));
        rows.map(|line| line[2..].split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (held, going) = (["aos/claude/ab45", "aos/codex/ef67"], ["aos/claude/cd56", "aos/goose/gh78"]);
    assert_eq!(names(View { held: true, ..View::default() }), held);
    assert_eq!(names(View { releasable: true, ..View::default() }), going);
    assert_eq!(names(View { held: true, releasable: true, ..View::default() }).len(), 4);
    assert_eq!(names(View { all: true, ..View::default() }).last().unwrap(), "feature/mine");
}

#[test]
fn reasons_are_cut_to_the_terminal_and_names_are_not() {
    let report = report("list", true, vec![repository("/w/repo", several())]);
    let text = human::render(&report, &View::default(), &canvas(Some(72))).text;
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows[2], "+ aos/claude/cd56  9b01d7e  3d   release  landed on origin/main as 1c44…");
    assert!(rows[..5].iter().all(|row| row.chars().count() <= 72), "{text}");
    let narrow = human::render(&report, &View::default(), &canvas(Some(20))).text;
    assert!(narrow.contains("+ aos/claude/cd56  release  landed on o…"), "{narrow}");
}

#[test]
fn colour_repeats_what_words_say() {
    let report = report("list", true, vec![repository("/w/repo", several())]);
    let plain = human::render(&report, &View::default(), &canvas(None)).text;
    let coloured = human::render(&report, &View::default(), &Canvas { colour: true, ..canvas(None) }).text;
    assert!(coloured.contains("\x1b[32mrelease\x1b[m"), "{coloured:?}");
    let mut stripped = coloured;
    while let Some(at) = stripped.find('\x1b') {
        let end = at + stripped[at..].find('m').unwrap();
        stripped.replace_range(at..=end, "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn hostile_names_cannot_act_on_the_terminal() {
    let shadow = branch(b"aos/\x1b]0;x\x07/\xff", "3f2a91c", 2).at("/w/\x1b[2J").held(
        Code::Untracked,
        On::Worktree,
        "1 untracked path: a\u{202e}b\r\n\x1b[31m",
    );
    for (command, dry_run) in [("list", true), ("prune-sessions", true), ("prune-sessions", false)] {
        let report = report(command, dry_run, vec![repository("/w/repo", vec![shadow.clone()])]);
        let text = human::render(&report, &View::default(), &canvas(Some(200))).text;
        assert!(text.contains(r"aos/\033]0;x\a/\377"), "{text}");
        assert!(text.contains(r"a\342\200\256b\r\n\033[31m"), "{text}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
}

#[test]
fn many_held_shadows_are_counted_by_code() {
    let held = |n: usize| {
        let (code, message) = if n.is_multiple_of(3) { (Code::Grace, "young") } else { (Code::Unpushed, "only here") };
        branch(format!("aos/h{n:02}").as_bytes(), "3f2a91c", 2).held(code, On::Branch, message)
    };
    let mut shadows: Vec<ShadowReport> = (0..42).map(held).collect();
    shadows.push(branch(b"aos/landed", "9b01d7e", 80).landed(How::Squash, "1c44e0a"));
    let report = report("list", true, vec![repository("/w/repo", shadows)]);
    golden(
        &human::render(&report, &View::default(), &canvas(None)).text,
        r"
  SHADOW      TIP      AGE  VERDICT  WHY
  aos/landed  9b01d7e  3d   release  landed on origin/main as 1c44e0a (squash)
… 42 held: 28 unpushed, 14 grace; --held shows them
43 shadows: 1 to release, 42 held
",
    );
    let all = human::render(&report, &View { held: true, ..View::default() }, &canvas(None)).text;
    assert_eq!(all.lines().filter(|line| line.contains("  held  ")).count(), 42);
    golden(
        &human::render(&report, &View { summary: true, ..View::default() }, &canvas(None)).text,
        r"
to release, because
      1  landed
held, by the first reason and by any
     28      28  unpushed         its commits are on no remote and have not landed
     14      14  grace            too young
43 shadows: 1 to release, 42 held
",
    );
}

#[test]
fn without_shadows_the_foreign_are_counted() {
    let report = report("list", true, vec![repository("/w/repo", vec![branch(b"mine", "abcdef0", 1).foreign()])]);
    let page = human::render(&report, &View::default(), &canvas(None));
    assert_eq!(page.text, "no shadows; 1 other that policy does not name\n");
    assert!(page.hints[0].contains("git shadow init --detect"), "{:?}", page.hints);
}

#[test]
fn several_repositories_have_headings_and_totals() {
    let one = vec![branch(b"aos/a", "9b01d7e", 80).landed(How::Squash, "1c44e0a")];
    let two = vec![branch(b"aos/b", "3f2a91c", 2).held(Code::Grace, On::Both, "too young")];
    let failed = RepositoryReport::failed("/w/broken".as_ref(), Error::fatal("not-a-repository", "no repository"));
    let list = vec![failed, repository("/w/none", vec![]), repository("/w/repo/sub", one), repository("/w/two", two)];
    let report = report("list", true, list);
    golden(
        &human::render(&report, &View::default(), &canvas(None)).text,
        r"
sub
  SHADOW  TIP      AGE  VERDICT  WHY
  aos/a   9b01d7e  3d   release  landed on origin/main as 1c44e0a (squash)

../two
  SHADOW  TIP      AGE  VERDICT  WHY
  aos/b   3f2a91c  2h   held     too young

2 shadows in 4 repositories: 1 to release, 1 held
",
    );
    assert_eq!(report.exit().code(), 2);
}

fn planned() -> Vec<ShadowReport> {
    let mut shadows = several();
    let would = |shadow: ShadowReport, steps: &[StepKind]| {
        steps.iter().fold(shadow, |shadow, step| shadow.step(*step, Outcome::Would, None))
    };
    let whole = [StepKind::MoveWorktree, StepKind::DropRegistration, StepKind::DeleteBranch, StepKind::DeleteFiles];
    shadows[1] = would(shadows[1].clone(), &whole);
    shadows[3] = would(shadows[3].clone(), &[StepKind::DeleteBranch]);
    let partial = branch(b"aos/kept", "5555555", 99)
        .at("/w/repo-kept")
        .held(Code::Unlanded, On::Branch, "pushed as origin/renamed, not in a base")
        .with(|report| {
            let judgement = &mut report.judgement;
            judgement.verdict = Verdict::Partial;
            judgement.worktree = Some(Half::Release);
            judgement.because = Some(Because::KeptElsewhere);
            let facts = judgement.evidence.branch.as_mut().unwrap();
            facts.on_remote = Fact::Known(Some(("refs/remotes/origin/renamed".into(), oid("5555555"))));
        });
    shadows.push(would(partial, &[StepKind::MoveWorktree, StepKind::DropRegistration, StepKind::DeleteFiles]));
    shadows
}

#[test]
fn a_dry_run_for_people() {
    let report = report("prune-sessions", true, vec![repository("/w/repo", planned())]);
    let page = human::render(&report, &View::default(), &canvas(None));
    golden(
        &page.text,
        r"
would release 2 of 5 shadows, 1 in part

 = aos/claude/ab45  held: current worktree
 - aos/claude/cd56  9b01d7e  ../repo-cd56
     landed   on origin/main as 1c44e0a (squash)
     remove   worktree ../repo-cd56
     drop     registration repo-cd56
     delete   refs/heads/aos/claude/cd56, if still 9b01d7e
 = aos/codex/ef67   held: 1 path changed: src/schema.rs
                    held: 2 commits exist on no remote
 - aos/goose/gh78   c0ffee1
     landed   ancestor of origin/main
     delete   refs/heads/aos/goose/gh78, if still c0ffee1
 - aos/kept         5555555  ../repo-kept
     pushed   its commits are on origin/renamed, only the worktree goes
     remove   worktree ../repo-kept
     drop     registration repo-kept
     keep     refs/heads/aos/kept: pushed as origin/renamed, not in a base
",
    );
    assert_eq!(page.hints[0], "nothing was changed; run 'git shadow prune-sessions --yes' to release");
}

#[test]
fn a_real_run_for_people() {
    let mut shadows = several();
    shadows[1] = shadows[1].clone().step(StepKind::DeleteBranch, Outcome::Done, None);
    shadows[3] =
        shadows[3].clone().step(StepKind::DeleteBranch, Outcome::Raced, Some("branch moved c0ffee1..55d2c1b; kept"));
    let mut report = report("prune-sessions", false, vec![repository("/w/repo", shadows)]);
    report.operation = Some("20261130T140501Z-7f3a".into());
    let view = View { undo_until: Some("2026-12-30T14:05:01Z".parse().unwrap()), ..View::default() };
    let page = human::render(&report, &view, &canvas(None));
    golden(
        &page.text,
        r"
 = [held]      aos/claude/ab45  current worktree
 - [released]  aos/claude/cd56  landed on origin/main as 1c44e0a (squash)
 = [held]      aos/codex/ef67   1 path changed: src/schema.rs (+1 more)
 ! [raced]     aos/goose/gh78   branch moved c0ffee1..55d2c1b; kept
released 1, raced 1, held 2 (operation 20261130T140501Z-7f3a)
",
    );
    assert_eq!(page.hints[0], "'git shadow undo' takes it back until 2026-12-30");
    assert_eq!(report.exit().code(), 2);
}

#[test]
fn porcelain_for_scripts() {
    let report = report("list", true, vec![repository("/w/repo", several()[..2].to_vec())]);
    golden(
        std::str::from_utf8(&porcelain::render(&report, &View::default(), false)).unwrap(),
        r"
repository /w/repo
common-dir /w/repo/.git
base 1c44e0a000000000000000000000000000000000 refs/remotes/origin/main

shadow aos/claude/ab45
verdict held
age 7200
branch refs/heads/aos/claude/ab45
tip 3f2a91c000000000000000000000000000000000
worktree /w/repo-ab45
registration repo-ab45
state present
head 3f2a91c000000000000000000000000000000000
current
hold current worktree current worktree

shadow aos/claude/cd56
verdict release
because landed
age 288000
branch refs/heads/aos/claude/cd56
tip 9b01d7e000000000000000000000000000000000
landed squash 1c44e0a000000000000000000000000000000000 refs/remotes/origin/main
worktree /w/repo-cd56
registration repo-cd56
state present
head 9b01d7e000000000000000000000000000000000

run list
dry-run
shadows 2
release 1
partial 0
held 1
foreign 0
released 0
raced 0
failed 0
pending 0

",
    );
}

#[test]
fn porcelain_quotes_names_and_with_z_does_not() {
    let shadow = branch(b"aos/\xff\"", "3f2a91c", 2).held(Code::Locked, On::Both, "locked: two\nlines");
    let report = report("list", true, vec![repository("/w/repo", vec![shadow])]);
    let text = String::from_utf8(porcelain::render(&report, &View::default(), false)).unwrap();
    assert!(text.contains("\nshadow \"aos/\\377\\\"\"\n"), "{text}");
    assert!(text.contains("\nhold locked both \"locked: two\\nlines\"\n"), "{text}");
    let bytes = porcelain::render(&report, &View::default(), true);
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    assert!(lines.contains(&&b"shadow aos/\xff\""[..]), "{lines:?}");
    assert!(lines.contains(&&b"hold locked both locked: two\nlines"[..]), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.is_empty()).count(), 4, "three records and the end");
}

#[test]
fn json_for_programs() {
    let shadow = branch(b"aos/x", "9b01d7e", 80)
        .at("/w/repo-x")
        .landed(How::Squash, "1c44e0a")
        .held(Code::Dirty, On::Worktree, "1 path changed: a")
        .step(StepKind::DeleteBranch, Outcome::Would, None)
        .with(|report| {
            report.judgement.eligible_at = Some(hours_ago(-1));
            report.judgement.evidence.lease = Fact::Known(Some(Lease {
                id: "ab45".into(),
                format: "agentic-os.native-lease.v1".into(),
                path: "/state/ab45.json".into(),
                pid: Some(7),
                state: LeaseState::Dead,
                finished: None,
                newest: None,
                worktrees: Vec::new(),
                repositories: Vec::new(),
                session_root: None,
                branches: Vec::new(),
            }));
        });
    let report = report("list", true, vec![repository("/w/repo", vec![shadow])]);
    let text = json::render(&report, &View::default());
    let expected = serde_json::json!({
        "schema": "git-shadow.report.v1", "command": "list", "dry_run": true, "generated_at": "2026-11-30T14:05:01Z",
        "repositories": [{
            "path": "/w/repo", "common_dir": "/w/repo/.git", "bare": false,
            "bases": [{"ref": "refs/remotes/origin/main", "oid": oid("1c44e0a").to_string(),
                       "fetched_at": "2026-11-30T11:05:01Z"}],
            "shadows": [{
                "name": "aos/x", "verdict": "release", "because": "landed", "age_s": 288_000,
                "eligible_at": "2026-11-30T15:05:01Z",
                "branch": {"ref": "refs/heads/aos/x", "tip": oid("9b01d7e").to_string(), "verdict": "release",
                           "own_commits": 3, "unpushed": 0,
                           "landed": {"how": "squash", "commit": oid("1c44e0a").to_string(),
                                      "base": "refs/remotes/origin/main"}},
                "worktree": {"id": "repo-x", "path": "/w/repo-x", "state": "present",
                             "head": oid("9b01d7e").to_string(), "branch": "refs/heads/aos/x",
                             "verdict": "release", "bytes": null, "bytes_complete": null},
                "lease": {"id": "ab45", "format": "agentic-os.native-lease.v1", "pid": 7, "live": false,
                          "finished": null},
                "holds": [{"code": "dirty", "on": "worktree", "message": "1 path changed: a",
                           "remedy": "remedy of dirty"}],
                "steps": [{"step": "delete-branch", "outcome": "would", "detail": null}]}],
            "errors": []}],
        "session_roots": [],
        "summary": {"repositories": 1, "shadows": 1, "release": 1, "partial": 0, "held": 0, "foreign": 0,
                    "released": 0, "raced": 0, "failed": 0, "pending": 0},
        "census": null,
        "operation": null
    });
    // As text, so that the order of the fields counts too.
    let expected = format!("{}\n", serde_json::to_string_pretty(&expected).unwrap());
    golden(std::str::from_utf8(&text).unwrap(), &format!("\n{expected}"));
}

#[test]
fn json_has_names_without_loss_and_no_number_for_the_unknown() {
    let shadow = branch(b"aos/\xff", "9b01d7e", 80).at("/w/x").with(|report| {
        let judgement = &mut report.judgement;
        judgement.evidence.age = Fact::Unknown("no reflog".into());
        judgement.evidence.worktree.as_mut().unwrap().place = Fact::Unknown("no permission".into());
        let worktree = judgement.evidence.shadow.worktree.as_mut().unwrap();
        let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(b"/w/\xff".to_vec());
        worktree.path = Some(path.into());
        worktree.head = Head::Broken("no permission".into());
    });
    let report = report("list", true, vec![repository("/w/repo", vec![shadow])]);
    let json: serde_json::Value = serde_json::from_slice(&json::render(&report, &View::default())).unwrap();
    let shadow = &json["repositories"][0]["shadows"][0];
    assert_eq!(shadow["name"], "aos/\u{fffd}");
    assert_eq!(shadow["name_hex"], "616f732fff");
    assert_eq!(shadow["branch"]["ref_hex"], "726566732f68656164732f616f732fff");
    assert_eq!(shadow["worktree"]["path_hex"], "2f772fff");
    for (object, field) in [(shadow, "age_s"), (&shadow["branch"], "own_commits"), (&shadow["branch"], "unpushed")] {
        assert!(object.as_object().unwrap().get(field).unwrap().is_null(), "{field} in {json:#}");
    }
    assert!(shadow["worktree"]["head"].is_null());
    assert_eq!(shadow["worktree"]["state"], "missing");
}

#[test]
fn every_state_of_a_worktree_has_its_word() {
    let word = |place: Place| {
        let shadow = branch(b"aos/x", "9b01d7e", 80)
            .at("/w/x")
            .with(|report| report.judgement.evidence.worktree.as_mut().unwrap().place = Fact::Known(place));
        let report = report("list", true, vec![repository("/w/repo", vec![shadow])]);
        let json: serde_json::Value = serde_json::from_slice(&json::render(&report, &View::default())).unwrap();
        json["repositories"][0]["shadows"][0]["worktree"]["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(word(Place::Present), "present");
    assert_eq!(word(Place::Purged("gone".into())), "purged");
    assert_eq!(word(Place::Missing { why: "away".into(), remedy: "mount it".into() }), "missing");
    assert_eq!(word(Place::NotOurs("a link".into())), "present");
}

#[test]
fn what_is_counted() {
    let mut shadows = planned();
    shadows[3] = branch(b"aos/p", "c0ffee1", 1).step(StepKind::Restore, Outcome::Pending, None);
    let report = report("prune-sessions", true, vec![repository("/w/repo", shadows)]);
    let expected = Summary {
        repositories: 1,
        shadows: 5,
        release: 1,
        partial: 1,
        held: 3,
        foreign: 1,
        pending: 1,
        ..Summary::default()
    };
    assert_eq!(Summary::of(&report), expected);
}

#[test]
fn an_explanation_shows_facts_rules_and_proof() {
    let shadow = several().remove(1).step(StepKind::DeleteBranch, Outcome::Would, None).with(|report| {
        let facts = report.judgement.evidence.worktree.as_mut().unwrap();
        facts.hidden_edits = Fact::Unknown("cannot open 'x\x1b[2J'".into());
        facts.staged = Fact::NotApplicable;
        facts.current = Fact::Known(false);
    });
    let shadow = shadow.held(Code::Unverified, On::Both, "hidden edits cannot be read: cannot open 'x'").held(
        Code::UnpushedHead,
        On::Both,
        "2 commits exist on no remote",
    );
    let report = report("explain", true, vec![repository("/w/repo", vec![shadow])]);
    let repository = &report.repositories[0];
    let text = explain::render(&report, repository, &repository.shadows[0], &Policy::built_in(), &canvas(None)).text;
    for line in [
        "  branch                  refs/heads/aos/claude/cd56 at 9b01d7e000000000000000000000000000000000",
        "  age                     3d, nothing since 2026-11-27T06:05:01Z",
        "  unverified (both)       hidden edits cannot be read: cannot open 'x'",
        "                          what helps: remedy of unverified",
        "  delete                  refs/heads/aos/claude/cd56, if still 9b01d7e",
        "  merging 9b01d7e into the parent of 1c44e0a000000000000000000000000000000000 on origin/main gives exactly that \
         commit's tree",
        "  refs/remotes/origin/main at 1c44e0a, last fetched 3 h ago",
        "  you are inside          no",
        r"  hidden edits            unknown: cannot open 'x\033[2J'",
        "  git status              not asked",
        "  leftover staged work    does not apply",
        "  current                 clear      the invoking shell is inside the worktree",
        "  dirty                   not asked  tracked files are changed",
        "  hidden-edits            unknown    tracked files differ in a way that git status does not see",
        "  staged                  -          the worktree is purged and its index holds the only copy of staged work",
        "  unpushed (worktree)     holds      its commits are on no remote and have not landed",
        "  unpushed (branch)       holds      its commits are on no remote and have not landed",
    ] {
        assert!(text.lines().any(|shown| shown == line), "no line '{line}' in\n{text}");
    }
    for code in Code::ALL {
        assert!(text.contains(code.summary()), "{code} is missing");
    }
    assert!(text.contains("\npolicy\n  base  "), "{text}");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
}
