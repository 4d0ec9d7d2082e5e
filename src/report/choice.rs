//! What a user can choose from: each shadow of which something goes, in one line.

use unicode_width::UnicodeWidthStr as _;

use super::table::pad;
use super::{Report, ShadowReport, words};
use crate::model::Verdict;
use crate::ui::Canvas;

/// A shadow that may go.
#[derive(Debug)]
pub struct Choice<'a> {
    /// The place of its repository in the report.
    pub repository: usize,
    /// The shadow.
    pub shadow: &'a ShadowReport,
    /// What it is, how old, and why it goes; of several repositories also in which.
    pub label: String,
}

/// The choices, in the order of the report.
pub fn choices<'a>(report: &'a Report, canvas: &Canvas) -> Vec<Choice<'a>> {
    let goes = |shadow: &&ShadowReport| matches!(shadow.judgement.verdict, Verdict::Release | Verdict::Partial);
    let all = report.repositories.iter().enumerate();
    let all: Vec<_> = all.flat_map(|(n, one)| one.shadows.iter().filter(goes).map(move |shadow| (n, shadow))).collect();
    let cells = |(n, shadow): &(usize, &ShadowReport)| {
        let place = match report.repositories.len() {
            0 | 1 => String::new(),
            _ => canvas.path(&report.repositories[*n].path),
        };
        [words::label(&shadow.judgement), words::age(shadow.age(report.generated_at)), words::why(shadow), place]
    };
    let rows: Vec<[String; 4]> = all.iter().map(cells).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let label = |row: &[String; 4]| {
        let columns = (0..3).map(|n| pad(&row[n], widths[n])).collect::<Vec<_>>().join("  ");
        format!("{columns}  {}", row[3]).trim_end().to_owned()
    };
    let labels = rows.iter().map(label);
    all.iter()
        .zip(labels)
        .map(|((repository, shadow), label)| Choice { repository: *repository, shadow, label })
        .collect()
}
