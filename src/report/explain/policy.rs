//! The policy, and where each value came from.

use super::Sheet;
use crate::policy::{Policy, Source};
use crate::ui::{safe_lossy, safe_path};

pub(super) fn render(sheet: &mut Sheet<'_>, policy: &Policy) {
    for row in policy.rows() {
        let from: Vec<String> = row.from.iter().map(source).collect();
        sheet.row(row.key, &format!("{}  ({})", safe_lossy(&row.value), from.join(", ")));
    }
}

fn source(source: &Source) -> String {
    match source {
        Source::Default => "default".into(),
        Source::User(path) => safe_path(path),
        Source::Repo(file) => safe_lossy(file),
        Source::Option => "command line".into(),
    }
}
