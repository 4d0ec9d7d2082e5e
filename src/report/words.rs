//! How reasons, proofs and times are put into words.

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};
use jiff::SignedDuration;

use super::ShadowReport;
use crate::judge::Judgement;
use crate::model::{Because, Disk, Fact, Head, How, Landed, Landing, Outcome, Verdict, short_name};
use crate::ui::{safe, safe_lossy};

/// The first characters of an object id, as git shows it.
pub(super) fn short(id: ObjectId) -> String {
    id.to_hex_with_len(7).to_string()
}

/// A ref as people name it, safe to show.
pub(super) fn short_ref(name: &BStr) -> String {
    safe(short_name(name))
}

/// The name that the user can type.
pub(super) fn name(judgement: &Judgement) -> String {
    safe(&judgement.evidence.shadow.name)
}

/// The name, and beside it that no branch has the worktree's HEAD.
pub(super) fn label(judgement: &Judgement) -> String {
    match judgement.evidence.shadow.worktree.as_ref().map(|worktree| &worktree.head) {
        Some(Head::Detached(_)) => format!("{} (detached)", name(judgement)),
        Some(Head::Branch(..) | Head::Broken(_)) | None => name(judgement),
    }
}

/// The tip of the branch, else HEAD.
pub(super) fn tip(judgement: &Judgement) -> Option<ObjectId> {
    let shadow = &judgement.evidence.shadow;
    let branch = shadow.branch.as_ref().and_then(|branch| branch.tip);
    branch.or_else(|| shadow.worktree.as_ref().and_then(|worktree| worktree.head.commit()))
}

/// `1 path`, `2 paths`.
pub(super) fn count(number: usize, one: &str) -> String {
    format!("{number} {}", noun(number, one))
}

/// `path` for one, `paths` for any other number.
pub(super) fn noun(number: usize, one: &str) -> String {
    match one.strip_suffix("y").or(one.strip_suffix("ch")) {
        _ if number == 1 => one.into(),
        Some(stem) if one.ends_with('y') => format!("{stem}ies"),
        Some(_) => format!("{one}es"),
        None => format!("{one}s"),
    }
}

/// `45s`, `5m`, `2h`, `3d`.
pub(super) fn age(age: Option<SignedDuration>) -> String {
    age.map_or("?".into(), |age| {
        let (number, unit) = largest(age);
        format!("{number}{unit}")
    })
}

/// `3 h ago`.
pub(super) fn ago(age: SignedDuration) -> String {
    let (number, unit) = largest(age);
    format!("{number} {} ago", if unit == "m" { "min" } else { unit })
}

/// `9.2 GiB`; one that could not be counted whole is more than that: `>9.2 GiB`.
pub(super) fn disk(disk: Disk) -> String {
    let more = if disk.complete { "" } else { ">" };
    let mut unit = "B";
    let (mut whole, mut rest) = (disk.bytes, 0);
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if whole < 1024 {
            break;
        }
        (whole, rest, unit) = (whole / 1024, whole % 1024, next);
    }
    match whole {
        0..10 if unit != "B" => format!("{more}{whole}.{} {unit}", rest * 10 / 1024),
        _ => format!("{more}{whole} {unit}"),
    }
}

fn largest(age: SignedDuration) -> (i64, &'static str) {
    match age.as_secs() {
        s @ ..60 => (s.max(0), "s"),
        s @ 60..3_600 => (s / 60, "m"),
        s @ 3_600..86_400 => (s / 3_600, "h"),
        s => (s / 86_400, "d"),
    }
}

/// Why it goes: `landed on origin/main as 1c44e0a (squash)`.
pub(super) fn because(judgement: &Judgement) -> String {
    match reason(judgement) {
        None => String::new(),
        Some((word, rest)) if rest.is_empty() => word.into(),
        Some((word, rest)) if rest.starts_with("on ") => format!("{word} {rest}"),
        Some((word, rest)) => format!("{word}: {rest}"),
    }
}

/// The same in two parts, a word and the rest.
pub(super) fn reason(judgement: &Judgement) -> Option<(&'static str, String)> {
    let branch = judgement.evidence.branch.as_ref();
    Some(match judgement.because? {
        Because::Landed => ("landed", proof(judgement).map(landed).unwrap_or_default()),
        Because::Unused => ("unused", "no work of its own".into()),
        Because::KeptElsewhere => {
            let place = match branch.and_then(|facts| facts.on_remote.known()) {
                Some(Some((name, _))) => short_ref(name.as_bstr()),
                Some(None) | None => "a remote".into(),
            };
            ("pushed", format!("its commits are on {place}, only the worktree goes"))
        }
        Because::Purged => ("purged", "its files are gone, its branch keeps the commits".into()),
    })
}

fn proof(judgement: &Judgement) -> Option<&Landed> {
    let branch = judgement.evidence.branch.as_ref().map(|facts| &facts.landing);
    let head = judgement.evidence.worktree.as_ref().map(|facts| &facts.head_landing);
    [branch, head].into_iter().flatten().find_map(|landing| match landing {
        Fact::Known(Landing::Landed(proof)) => Some(proof),
        _ => None,
    })
}

fn landed(proof: &Landed) -> String {
    let base = short_ref(proof.base.as_bstr());
    match proof.how {
        How::Ancestor => format!("ancestor of {base}"),
        How::Squash | How::Rebase | How::Contained => {
            format!("on {base} as {} ({})", short(proof.commit), proof.how.as_str())
        }
    }
}

/// The reason in one line: what went wrong, else why it stays, else why it goes.
pub(super) fn why(report: &ShadowReport) -> String {
    let judgement = &report.judgement;
    let wrong = report.steps.iter().find(|step| {
        matches!(step.outcome, Outcome::Raced | Outcome::Failed | Outcome::Pending) && step.detail.is_some()
    });
    if let Some(detail) = wrong.and_then(|step| step.detail.as_deref()) {
        return safe_lossy(detail);
    }
    match judgement.verdict {
        Verdict::Release | Verdict::Partial => because(judgement),
        Verdict::Held => match judgement.holds.split_first() {
            None => "nothing shows that it may go".into(),
            Some((first, [])) => safe_lossy(&first.message),
            Some((first, more)) => format!("{} (+{} more)", safe_lossy(&first.message), more.len()),
        },
        Verdict::Foreign => "not a session's by policy".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{age, ago, count, disk};
    use crate::model::Disk;
    use jiff::SignedDuration;

    #[test]
    fn times_are_cut_to_their_largest_unit() {
        let shown = |seconds| age(Some(SignedDuration::from_secs(seconds)));
        assert_eq!([0, 59, 60, 3_599, 3_600, 86_399, 86_400].map(shown), ["0s", "59s", "1m", "59m", "1h", "23h", "1d"]);
        assert_eq!(age(None), "?");
        assert_eq!(ago(SignedDuration::from_secs(300)), "5 min ago");
        assert_eq!(ago(SignedDuration::from_secs(3 * 3_600)), "3 h ago");
    }

    #[test]
    fn sizes_have_two_figures() {
        let shown = |bytes| disk(Disk { bytes, complete: true });
        let sizes = [0, 1023, 1024, 10 << 10, (9 << 30) + (205 << 20), 40 << 40, 5000 << 40].map(shown);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "10 KiB", "9.2 GiB", "40 TiB", "5000 TiB"]);
        assert_eq!(disk(Disk { bytes: 2048, complete: false }), ">2.0 KiB");
    }

    #[test]
    fn plurals() {
        assert_eq!(count(1, "repository"), "1 repository");
        assert_eq!(count(2, "repository"), "2 repositories");
        assert_eq!(count(0, "shadow"), "0 shadows");
    }
}
