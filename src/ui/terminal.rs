//! What the terminal is like: the environment's say in colour, width and hints.

use std::env::{var, var_os};

use super::ColourWhen;

/// Whether to colour a stream: the option first, then `NO_COLOR` and `TERM`, then whether it is a terminal.
pub(super) fn colour(when: ColourWhen, terminal: bool) -> bool {
    match when {
        ColourWhen::Always => true,
        ColourWhen::Never => false,
        ColourWhen::Auto => terminal && !dumb() && var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// The terminal moves no cursor and shows no colour.
pub(super) fn dumb() -> bool {
    var("TERM").is_ok_and(|term| term == "dumb")
}

/// git shows the output in its pager: standard output is no terminal, but ends on one.
pub(super) fn paged() -> bool {
    switch("GIT_PAGER_IN_USE") == Some(true)
}

/// Hints are turned off as in git 2.45 and newer.
pub(super) fn no_advice() -> bool {
    switch("GIT_ADVICE") == Some(false)
}

fn switch(name: &str) -> Option<bool> {
    match var(name).ok()?.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" | "" => Some(false),
        _ => None,
    }
}

/// Columns that the answer may take; `None`: it goes to a file or a program, nothing is cut. git hands the width to
/// its pager in `COLUMNS`.
pub(super) fn width() -> Option<usize> {
    let terminal = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    if terminal.is_none() && !paged() {
        return None;
    }
    let asked = var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let other = || terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0));
    asked.or(terminal).or_else(other).filter(|width| *width > 0)
}

/// Columns and lines of the terminal that narration goes to.
pub(super) fn size_of_errors() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)))
}
