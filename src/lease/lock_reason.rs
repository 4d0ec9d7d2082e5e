//! What the reason of a worktree's lock says.
//!
//! Only forms that a program is known to write name a process:
//!
//! - `claude agent <name> (pid N)` and `claude session <name> (pid N)`, each also with ` start <lstart>` behind the pid;
//! - `openclaw pid=N`.
//!
//! Any other reason was written by a person, whatever it contains.

use std::path::Path;

use gix::bstr::{BStr, ByteSlice as _};

use super::liveness;
use crate::model::LockKind;

/// What kind of lock has this reason. `places` is what must be local for a process to be provably gone: the
/// registration and the worktree.
pub fn judge(reason: &BStr, places: &[&Path]) -> LockKind {
    let reason = reason.trim();
    // The id of an operation starts with its time.
    let operation = |prefix: &str| {
        let name = reason.strip_prefix(prefix.as_bytes()).unwrap_or_default();
        name.first().is_some_and(u8::is_ascii_digit) && !name.iter().any(u8::is_ascii_whitespace)
    };
    if reason == b"initializing" {
        LockKind::Initializing
    } else if operation("git-shadow undo ") {
        LockKind::Undone
    } else if operation("git-shadow ") {
        LockKind::Releasing
    } else if let Some((pid, start)) = reason.to_str().ok().and_then(process) {
        LockKind::Process { pid, stale: liveness::may_live(pid, start, places).is_none() }
    } else {
        LockKind::ByHand
    }
}

/// The pid and the start, where the reason has a known form.
fn process(reason: &str) -> Option<(i64, Option<&str>)> {
    if reason.contains('\n') {
        return None;
    }
    let pid =
        |digits: &str| digits.parse::<i64>().ok().filter(|pid| *pid > 0 && digits.bytes().all(|b| b.is_ascii_digit()));
    if let Some(digits) = reason.strip_prefix("openclaw pid=") {
        return pid(digits).map(|pid| (pid, None));
    }
    let named = reason.strip_prefix("claude agent ").or_else(|| reason.strip_prefix("claude session "))?;
    let (_, holder) = named.strip_suffix(')')?.rsplit_once(" (pid ")?;
    match holder.split_once(" start ") {
        Some((digits, start)) => pid(digits).map(|pid| (pid, Some(start))),
        None => pid(holder).map(|pid| (pid, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_forms_name_a_process() {
        let start = "Fri Jun 19 21:37:40 2026";
        for (reason, named) in [
            ("claude agent x (pid 999999 start Fri Jun 19 21:37:40 2026)", Some((999_999, Some(start)))),
            ("claude session probe0 (pid 29884)", Some((29884, None))),
            ("claude agent a (b) (pid 7)", Some((7, None))),
            ("openclaw pid=1829694", Some((1_829_694, None))),
            ("openclaw pid=-1", None),
            ("openclaw pid=1 or so", None),
            ("claude agent x (pid +7)", None),
            ("claude agent x (pid 7) do not touch", None),
            ("claude agent x (pid 7)\nkept by hand", None),
            ("ask bob (pid 7)", None),
            ("do not touch, pid 7", None),
            ("", None),
        ] {
            assert_eq!(process(reason), named, "{reason}");
        }
    }

    #[test]
    fn our_own_marks_and_gits() {
        for (reason, kind) in [
            ("initializing\n", LockKind::Initializing),
            ("initializing soon", LockKind::ByHand),
            ("git-shadow 20261130T140501Z-7f3a", LockKind::Releasing),
            ("git-shadow undo 20261130T140501Z-7f3a\n", LockKind::Undone),
            ("git-shadow must not touch this", LockKind::ByHand),
            ("git-shadow 2 be kept", LockKind::ByHand),
            ("git-shadow undo", LockKind::ByHand),
            ("git-shadow undo ", LockKind::ByHand),
            ("git-shadow undo this or that", LockKind::ByHand),
            ("", LockKind::ByHand),
        ] {
            assert_eq!(judge(reason.into(), &[]), kind, "{reason}");
        }
    }
}
