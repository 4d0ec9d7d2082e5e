#![allow(clippy::unwrap_used)]
//! One row a hold: the evidence of a shadow that may go, spoilt in one place.

use std::time::Duration;

use gix::ObjectId;

use super::{Terms, judge};
use crate::model::{
    Age, Base, Because, Branch, BranchFacts, BranchUser, Code, Evidence, Fact, Half, Head, How, Landed, Landing, Lease,
    LeaseState, Lock, LockKind, On, Place, Registration, RepositoryFacts, Shadow, Status, Timestamp, Undeletable,
    Unpushed, Use, Verdict, WorktreeFacts,
};
use crate::policy::Policy;

const NOW: i64 = 1_800_000_000;
const DAY: i64 = 86_400;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn oid(digit: u8) -> ObjectId {
    ObjectId::from_hex(&[digit; 40]).unwrap()
}

fn main() -> (gix::bstr::BString, ObjectId) {
    ("refs/remotes/origin/main".into(), oid(b'9'))
}

fn repository() -> RepositoryFacts {
    let base = Base { name: main().0, tip: main().1, fetched_at: None };
    RepositoryFacts { bases: Fact::Known(vec![base]), mirror: Fact::Known(Vec::new()), grafts: Fact::Known(false) }
}

fn landed() -> Landed {
    Landed { how: How::Squash, commit: oid(b'8'), base: main().0 }
}

/// Landed, clean, ten days old: all of it may go.
fn evidence() -> Evidence {
    let registration = Registration {
        id: "a".into(),
        git_dir: "/r/.git/worktrees/a".into(),
        path: Some("/a".into()),
        head: Head::Branch("refs/heads/aos/a".into(), Some(oid(b'1'))),
        names: vec![("refs/heads/aos/a".into(), "checked out")],
        unread: None,
    };
    let worktree = WorktreeFacts {
        place: Fact::Known(Place::Present),
        root: Some((1, 2)),
        current: Fact::Known(false),
        lock: Fact::Known(None),
        created: Fact::Known(at(NOW - 10 * DAY)),
        own_work: Fact::Known(true),
        operation: Fact::Known(Vec::new()),
        status: Fact::Known(Status::default()),
        hidden_edits: Fact::Known(Vec::new()),
        ignored: Fact::Known(Vec::new()),
        ignored_deep: Fact::Known(Vec::new()),
        undeletable: Fact::Known(Vec::new()),
        nested_repositories: Fact::Known(Vec::new()),
        nested_worktrees: Fact::Known(Vec::new()),
        submodules: Fact::Known(Vec::new()),
        in_use: Fact::Known(Vec::new()),
        unpushed: Fact::Known(Unpushed { count: 2, detached: false }),
        head_in_base: Fact::Known(None),
        head_on_remote: Fact::Known(None),
        head_landing: Fact::Known(Landing::Landed(landed())),
        private_refs: Fact::Known(Vec::new()),
        staged: Fact::NotApplicable,
        primary: None,
    };
    let branch = BranchFacts {
        symref: Fact::Known(false),
        own_work: Fact::Known(true),
        own_commits: Fact::Known(2),
        unpushed: Fact::Known(2),
        in_base: Fact::Known(None),
        on_remote: Fact::Known(None),
        landing: Fact::Known(Landing::Landed(landed())),
        landed_locally_only: Fact::Known(false),
        users: vec![BranchUser { id: Some("a".into()), path: "/a".into(), how: "checked out" }],
        protected: Fact::Known(None),
        undone: Fact::Known(false),
        upstream_gone: Fact::Known(false),
    };
    Evidence {
        shadow: Shadow {
            name: "aos/a".into(),
            foreign: false,
            branch: Some(Branch { name: "refs/heads/aos/a".into(), tip: Some(oid(b'1')) }),
            worktree: Some(registration),
        },
        worktree: Some(worktree),
        branch: Some(branch),
        lease: Fact::Known(None),
        age: Fact::Known(Age { newest: Some(at(NOW - 10 * DAY)) }),
        begun: Fact::Known(Some(at(NOW - 11 * DAY))),
        pending: None,
    }
}

fn judged(evidence: Evidence, repository: &RepositoryFacts, terms: Terms) -> super::Judgement {
    judge(vec![evidence], repository, &Policy::built_in(), terms, at(NOW)).remove(0)
}

fn lease(state: LeaseState) -> Fact<Option<Lease>> {
    Fact::Known(Some(Lease {
        id: "ab45".into(),
        format: "agentic-os.native-lease.v1".into(),
        path: "/leases/ab45.json".into(),
        pid: Some(7),
        state,
        finished: None,
        newest: Some(at(NOW - 100)),
        worktrees: Vec::new(),
        repositories: Vec::new(),
        session_root: None,
        branches: Vec::new(),
    }))
}

fn lock(kind: LockKind) -> Fact<Option<Lock>> {
    Fact::Known(Some(Lock { reason: "why".into(), kind }))
}

#[test]
fn a_landed_shadow_goes() {
    let judgement = judged(evidence(), &repository(), Terms::default());
    assert_eq!(judgement.holds, []);
    assert_eq!((judgement.verdict, judgement.because), (Verdict::Release, Some(Because::Landed)));
    let release = judgement.release.unwrap();
    assert_eq!(release.branch().unwrap().rests_on, main());
    assert!(release.worktree().unwrap().present);
}

type Spoil = fn(&mut WorktreeFacts, &mut BranchFacts);

/// What each fact holds, and on what.
#[test]
fn every_hold_has_its_fact() {
    let rows: &[(Code, On, Spoil)] = &[
        (Code::Unverified, On::Both, |w, _| w.status = Fact::Unknown("no".into())),
        (Code::Unverified, On::Both, |_, b| b.landing = Fact::Unknown("no".into())),
        (Code::Current, On::Worktree, |w, _| w.current = Fact::Known(true)),
        (Code::InUse, On::Worktree, |w, _| w.in_use = Fact::Known(vec![Use::Mount("/a/m".into())])),
        (Code::Locked, On::Both, |w, _| w.lock = lock(LockKind::ByHand)),
        (Code::Locked, On::Both, |w, _| w.lock = lock(LockKind::Undone)),
        (Code::Locked, On::Both, |w, _| w.lock = lock(LockKind::Releasing)),
        (Code::Locked, On::Both, |w, _| w.lock = lock(LockKind::Process { pid: 7, stale: false })),
        (Code::Locked, On::Both, |w, _| w.lock = lock(LockKind::Process { pid: 7, stale: true })),
        (Code::Locked, On::Both, |_, b| b.undone = Fact::Known(true)),
        (Code::Initializing, On::Both, |w, _| w.lock = lock(LockKind::Initializing)),
        (Code::Initializing, On::Both, |w, _| {
            w.created = Fact::Known(at(NOW - 5));
            w.own_work = Fact::Known(false);
        }),
        (Code::Operation, On::Both, |w, _| w.operation = Fact::Known(vec!["rebase".into()])),
        (Code::Dirty, On::Worktree, |w, _| {
            w.status = Fact::Known(Status { tracked: vec!["f".into()], ..Status::default() });
        }),
        (Code::Untracked, On::Worktree, |w, _| {
            w.status = Fact::Known(Status { untracked: vec!["f".into()], ..Status::default() });
        }),
        (Code::HiddenEdits, On::Worktree, |w, _| w.hidden_edits = Fact::Known(vec!["f".into()])),
        (Code::Ignored, On::Worktree, |w, _| w.ignored = Fact::Known(vec![".env".into()])),
        (Code::Ignored, On::Worktree, |w, _| w.ignored_deep = Fact::Known(vec!["target/x.db".into()])),
        (Code::Undeletable, On::Worktree, |w, _| {
            w.undeletable = Fact::Known(vec![Undeletable { path: "out".into(), why: "owned by root".into() }]);
        }),
        (Code::NestedRepo, On::Worktree, |w, _| w.nested_repositories = Fact::Known(vec!["x".into()])),
        (Code::NestedWorktree, On::Worktree, |w, _| w.nested_worktrees = Fact::Known(vec!["/a/x".into()])),
        (Code::Submodule, On::Both, |w, _| w.submodules = Fact::Known(vec!["'s' has a stash".into()])),
        (Code::UnpushedHead, On::Both, |_, b| b.landing = Fact::Known(Landing::Unproven)),
        (Code::WorktreeRefs, On::Both, |w, _| w.private_refs = Fact::Known(vec!["refs/worktree/x".into()])),
        (Code::Staged, On::Both, |w, _| w.staged = Fact::Known(vec!["f".into()])),
        (Code::Missing, On::Both, |w, _| {
            w.place = Fact::Known(Place::Missing { why: "away".into(), remedy: "mount it".into() });
        }),
        (Code::Identity, On::Both, |w, _| w.place = Fact::Known(Place::NotOurs("a link".into()))),
        (Code::Unlanded, On::Branch, |w, b| {
            b.landing = Fact::Known(Landing::Unproven);
            b.unpushed = Fact::Known(0);
            b.on_remote = Fact::Known(Some(main()));
            w.unpushed = Fact::Known(Unpushed::default());
        }),
        (Code::Partial, On::Both, |_, b| {
            b.landing = Fact::Known(Landing::Partial { landed: vec![oid(b'1')], missing: vec![oid(b'2')] });
        }),
        (Code::Reverted, On::Both, |_, b| {
            b.landing = Fact::Known(Landing::Reverted { landed: landed(), by: None });
        }),
        (Code::CheckedOut, On::Branch, |_, b| {
            b.users.push(BranchUser { id: None, path: "/r".into(), how: "checked out" });
        }),
        (Code::Protected, On::Both, |_, b| b.protected = Fact::Known(Some("it is a base".into()))),
        (Code::Protected, On::Both, |w, _| w.primary = Some(main().0)),
        (Code::Symref, On::Branch, |_, b| b.symref = Fact::Known(true)),
        (Code::Shallow, On::Both, |_, b| b.landing = Fact::Known(Landing::CutOff)),
    ];
    for (code, on, spoil) in rows {
        let mut spoilt = evidence();
        spoil(spoilt.worktree.as_mut().unwrap(), spoilt.branch.as_mut().unwrap());
        let judgement = judged(spoilt, &repository(), Terms::default());
        let found = judgement.holds.iter().find(|hold| hold.code == *code);
        assert_eq!(found.map(|hold| hold.on), Some(*on), "{code}: {:?}", judgement.holds);
        assert_ne!(judgement.branch, Some(Half::Release), "{code}: the branch goes");
        let worktree = if *on == On::Branch { Half::Release } else { Half::Held };
        assert_eq!(judgement.worktree, Some(worktree), "{code}: {:?}", judgement.holds);
        assert!(judgement.release.is_none_or(|release| release.branch().is_none()), "{code}");
    }
}

#[test]
fn facts_of_the_repository_hold() {
    let unresolved = RepositoryFacts { bases: Fact::Unknown("set one".into()), ..repository() };
    let mirror = RepositoryFacts { mirror: Fact::Known(vec![("o".into(), "+refs/*:refs/*".into())]), ..repository() };
    let grafts = RepositoryFacts { grafts: Fact::Known(true), ..repository() };
    for (facts, code) in [(unresolved, Code::BaseUnresolved), (mirror, Code::Mirror), (grafts, Code::Unverified)] {
        let judgement = judged(evidence(), &facts, Terms::default());
        assert!(judgement.holds.iter().any(|hold| hold.code == code), "{code}: {:?}", judgement.holds);
        assert_eq!(judgement.branch, Some(Half::Held), "{code}");
    }
}

#[test]
fn a_live_lease_holds_and_a_finished_one_waits_for_no_grace() {
    let with = |lease| judged(Evidence { lease, ..evidence() }, &repository(), Terms::default());
    assert_eq!(with(lease(LeaseState::Live("process 7 runs".into()))).holds[0].code, Code::Live);
    assert_eq!(with(lease(LeaseState::Released)).verdict, Verdict::Release);
    let young =
        |state| Evidence { lease: lease(state), age: Fact::Known(Age { newest: Some(at(NOW - 100)) }), ..evidence() };
    assert_eq!(judged(young(LeaseState::Dead), &repository(), Terms::default()).holds[0].code, Code::Grace);
    assert_eq!(judged(young(LeaseState::Released), &repository(), Terms::default()).holds, []);
}

/// No own work, or only on a remote: each has its grace, counted from the newest sign; one in the future is age 0.
#[test]
fn graces() {
    let unused = |age: i64| {
        let mut e = evidence();
        let b = e.branch.as_mut().unwrap();
        (b.own_work, b.in_base, b.unpushed) = (Fact::Known(false), Fact::Known(Some(main())), Fact::Known(0));
        b.landing = Fact::Known(Landing::Landed(Landed { how: How::Ancestor, ..landed() }));
        e.age = Fact::Known(Age { newest: Some(at(NOW - age)) });
        e
    };
    for (age, held) in [(DAY - 1, true), (DAY, false), (-DAY, true)] {
        let judgement = judged(unused(age), &repository(), Terms::default());
        assert_eq!(judgement.holds.iter().any(|h| h.code == Code::Grace), held, "{age}: {:?}", judgement.holds);
        assert_eq!(judgement.eligible_at, held.then(|| at(NOW - age + DAY)));
    }
    let released = judged(unused(0), &repository(), Terms { named: true, hook: false });
    assert_eq!((released.verdict, released.because), (Verdict::Release, Some(Because::Unused)));
    let ageless = Evidence { age: Fact::Known(Age { newest: None }), ..unused(0) };
    assert_eq!(judged(ageless, &repository(), Terms::default()).holds[0].code, Code::Grace);
    let unknown = Evidence { age: Fact::Unknown("no".into()), ..unused(0) };
    assert_eq!(judged(unknown, &repository(), Terms { named: true, hook: false }).holds[0].code, Code::Unverified);
}

#[test]
fn a_pushed_one_is_released_in_part_but_not_by_a_hook() {
    let pushed = || {
        let mut e = evidence();
        let b = e.branch.as_mut().unwrap();
        (b.landing, b.unpushed) = (Fact::Known(Landing::Unproven), Fact::Known(0));
        b.on_remote = Fact::Known(Some(main()));
        e.worktree.as_mut().unwrap().unpushed = Fact::Known(Unpushed::default());
        e
    };
    let judgement = judged(pushed(), &repository(), Terms::default());
    assert_eq!((judgement.verdict, judgement.because), (Verdict::Partial, Some(Because::KeptElsewhere)));
    let release = judgement.release.unwrap();
    assert!(release.worktree().is_some() && release.branch().is_none());
    assert_eq!(judged(pushed(), &repository(), Terms { named: false, hook: true }).release, None);
}

#[test]
fn a_purged_one_gives_up_its_registration_and_keeps_its_commits() {
    let mut e = evidence();
    e.worktree.as_mut().unwrap().place = Fact::Known(Place::Purged("gone".into()));
    e.branch.as_mut().unwrap().landing = Fact::Known(Landing::Unproven);
    let judgement = judged(e, &repository(), Terms::default());
    assert_eq!((judgement.verdict, judgement.because), (Verdict::Partial, Some(Because::Purged)));
    assert_eq!(judgement.holds.iter().map(|h| (h.code, h.on)).collect::<Vec<_>>(), [(Code::Unpushed, On::Branch)]);
}

#[test]
fn locks_that_a_named_release_passes() {
    for (kind, passes) in [
        (LockKind::ByHand, false),
        (LockKind::Undone, true),
        (LockKind::Process { pid: 7, stale: true }, true),
        (LockKind::Process { pid: 7, stale: false }, false),
    ] {
        let mut e = evidence();
        e.worktree.as_mut().unwrap().lock = lock(kind.clone());
        let judgement = judged(e, &repository(), Terms { named: true, hook: false });
        assert_eq!(judgement.verdict == Verdict::Release, passes, "{kind:?}");
        assert_eq!(judgement.release.and_then(|r| r.worktree().unwrap().passes_lock.clone()).is_some(), passes);
    }
}

/// Two worktrees on one branch: it goes only when both go.
#[test]
fn a_branch_waits_for_every_worktree_that_names_it() {
    let second = |place| {
        let mut e = evidence();
        let w = e.worktree.as_mut().unwrap();
        w.place = Fact::Known(place);
        e.shadow.worktree.as_mut().unwrap().id = "a2".into();
        (e.shadow.name, e.shadow.branch, e.branch) = ("a2".into(), None, None);
        e
    };
    for (place, held) in [(Place::Present, false), (Place::NotOurs("no".into()), true)] {
        let mut first = evidence();
        let user = BranchUser { id: Some("a2".into()), path: "/a2".into(), how: "checked out" };
        first.branch.as_mut().unwrap().users.push(user);
        let judged = judge(vec![first, second(place)], &repository(), &Policy::built_in(), Terms::default(), at(NOW));
        assert_eq!(judged[0].holds.iter().any(|h| h.code == Code::CheckedOut), held);
        assert_eq!(judged[0].worktree, Some(Half::Release));
        assert_eq!(judged[0].branch, Some(if held { Half::Held } else { Half::Release }));
    }
}

/// The order of the report is the order of the codes, and the graces of policy are asked.
#[test]
fn holds_come_in_the_order_of_the_table() {
    let mut e = evidence();
    let w = e.worktree.as_mut().unwrap();
    w.lock = lock(LockKind::ByHand);
    w.current = Fact::Known(true);
    w.operation = Fact::Known(vec!["merge".into()]);
    e.branch.as_mut().unwrap().symref = Fact::Known(true);
    let mut policy = Policy::built_in();
    policy.grace.landed.value = Duration::from_secs(30 * 86_400);
    let judgement = judge(vec![e], &repository(), &policy, Terms::default(), at(NOW)).remove(0);
    let codes: Vec<Code> = judgement.holds.iter().map(|hold| hold.code).collect();
    assert_eq!(codes, [Code::Current, Code::Locked, Code::Operation, Code::Grace, Code::Symref]);
}
