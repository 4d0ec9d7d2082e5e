//! The policy, and where each value came from.

use std::time::Duration;

use super::Sheet;
use crate::policy::{Policy, Source, Sourced};
use crate::ui::{safe_lossy, safe_path};

pub(super) fn render(sheet: &mut Sheet<'_>, policy: &Policy) {
    row(sheet, "base", &policy.base, |all| list(all));
    row(sheet, "remotes", &policy.remotes, |all| list(all));
    row(sheet, "protect", &policy.protect, |all| list(all));
    row(sheet, "keep", &policy.keep, time);
    row(sheet, "shadows.branches", &policy.branches, |all| list(all));
    row(sheet, "shadows.roots", &policy.roots, |all| list(all));
    row(sheet, "grace.unused", &policy.grace.unused, time);
    row(sheet, "grace.pushed", &policy.grace.pushed, time);
    row(sheet, "grace.dead", &policy.grace.dead, time);
    row(sheet, "grace.purged", &policy.grace.purged, time);
    row(sheet, "grace.landed", &policy.grace.landed, time);
    row(sheet, "landing.pushed", &policy.landing_pushed, ToString::to_string);
    row(sheet, "ignored.disposable", &policy.disposable, |all| list(all));
    row(sheet, "ignored.save", &policy.ignored_save, |all| list(all));
    row(sheet, "untracked.save", &policy.untracked_save, |all| list(all));
    row(sheet, "purged.roots", &policy.purged_roots, |roots| {
        list(&roots.iter().map(|root| root.to_string_lossy().into_owned()).collect::<Vec<_>>())
    });
    row(sheet, "locks.stale", &policy.stale_locks_release, |release| {
        if *release { "\"release\"" } else { "\"hold\"" }.into()
    });
    row(sheet, "hooks.post-merge", &policy.hook_post_merge, ToString::to_string);
    row(sheet, "hooks.pre-push", &policy.hook_pre_push, ToString::to_string);
}

fn row<T>(sheet: &mut Sheet<'_>, key: &str, sourced: &Sourced<T>, show: impl Fn(&T) -> String) {
    let from: Vec<String> = sourced.from.iter().map(source).collect();
    sheet.row(key, &format!("{}  ({})", show(&sourced.value), from.join(", ")));
}

fn source(source: &Source) -> String {
    match source {
        Source::Default => "default".into(),
        Source::User(path) => safe_path(path),
        Source::Repo(file) => safe_lossy(file),
        Source::Option => "command line".into(),
    }
}

fn list(values: &[String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("\"{}\"", safe_lossy(value))).collect();
    format!("[{}]", quoted.join(", "))
}

/// In the largest unit that leaves nothing over.
fn time(duration: &Duration) -> String {
    match duration.as_secs() {
        0 => "0s".into(),
        seconds if seconds % 86_400 == 0 => format!("{}d", seconds / 86_400),
        seconds if seconds % 3_600 == 0 => format!("{}h", seconds / 3_600),
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}
