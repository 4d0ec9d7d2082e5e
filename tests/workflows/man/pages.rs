//! Which pages there are, and what of them comes from the definition of the arguments.

use std::collections::BTreeMap;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command, CommandFactory as _};
use git_shadow::cli::Cli;
use git_shadow::error::Exit;
use git_shadow::model::{Code, Outcome, StepKind};
use git_shadow::policy::{KEYS, Who};
use roff::{Inline, bold, italic, roman};

use super::sheet::{Sheet, marked};
use super::text;

/// Every page by the name of its file.
pub fn all() -> BTreeMap<String, String> {
    let mut cli = Cli::command();
    cli.build();
    let mut pages =
        BTreeMap::from([("git-shadow.1".to_owned(), overview(&cli)), ("shadowrc.5".to_owned(), shadowrc())]);
    for command in commands(&cli) {
        pages.insert(format!("git-shadow-{}.1", command.get_name()), page(command));
    }
    pages
}

fn commands(cli: &Command) -> impl Iterator<Item = &Command> {
    cli.get_subcommands().filter(|command| !command.is_hide_set())
}

fn overview(cli: &Command) -> String {
    let mut sheet = Sheet::new("git-shadow", "1");
    sheet.heading("Name");
    sheet.prose("git-shadow - release agents' worktrees and branches whose work is provably safe");
    sheet.heading("Synopsis");
    let synopsis = [bold("git shadow"), roman(" [<options>] <command> [<arguments>]")];
    sheet.line(synopsis.to_vec());
    sheet.heading("Description");
    sheet.prose(text::DESCRIPTION);
    sheet.heading("Commands");
    for command in commands(cli) {
        let head = vec![bold(format!("git-shadow-{}", command.get_name())), roman("(1)")];
        sheet.entry(head, &[said(command.get_about())]);
    }
    sheet.heading("Options");
    sheet.prose("Every command has these; they may stand before its name or behind it.");
    options(&mut sheet, cli.get_arguments());
    sheet.heading("Why a shadow is held");
    sheet.prose(text::HOLDS);
    let mut told = Vec::new();
    for code in Code::ALL.iter().filter(|code| code.summary() != "") {
        if !told.contains(&code.as_str()) {
            told.push(code.as_str());
            let helps = format!("What helps: {}.", code.helps());
            sheet.entry(vec![bold(code.as_str())], &[said(Some(code.summary())), vec![roman(helps)]]);
        }
    }
    for (heading, text) in [("Undo", text::UNDO), ("Output", text::OUTPUT)] {
        sheet.heading(heading);
        sheet.prose(text);
    }
    sheet.heading("Steps");
    sheet.prose(text::STEPS);
    for step in StepKind::ALL {
        sheet.entry(vec![bold(step.as_str())], &[said(Some(step.about()))]);
    }
    sheet.heading("Outcomes");
    for outcome in Outcome::ALL {
        sheet.entry(vec![bold(outcome.as_str())], &[said(Some(outcome.about()))]);
    }
    sheet.heading("Exit status");
    for exit in Exit::ALL {
        sheet.entry(vec![bold(exit.code().to_string())], &[said(Some(exit.about()))]);
    }
    for (heading, rows) in [("Files", text::FILES), ("Environment", text::ENVIRONMENT)] {
        sheet.heading(heading);
        table(&mut sheet, rows);
    }
    for (heading, text) in [("Examples", text::EXAMPLES), ("Limits", text::LIMITS)] {
        sheet.heading(heading);
        sheet.prose(text);
    }
    let mut also: Vec<(String, &str)> = vec![("git-worktree".into(), "1"), ("git-branch".into(), "1")];
    also.extend(commands(cli).map(|command| (format!("git-shadow-{}", command.get_name()), "1")));
    also.push(("shadowrc".into(), "5"));
    see_also(&mut sheet, &also);
    sheet.finish()
}

fn page(command: &Command) -> String {
    let name = command.get_name();
    let mut sheet = Sheet::new(&format!("git-shadow-{name}"), "1");
    sheet.heading("Name");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let about = about
        .strip_prefix(char::is_uppercase)
        .map_or(about.clone(), |rest| about[..about.len() - rest.len()].to_lowercase() + rest);
    sheet.plain(&format!("git-shadow-{name} - {about}"));
    sheet.heading("Synopsis");
    synopsis(&mut sheet, command);
    sheet.heading("Description");
    let (more, examples) = text::of(name);
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let long = long.split_once("\n\n").map(|(_, rest)| rest).unwrap_or_default();
    sheet.plain(if long.is_empty() && more.is_empty() { &about } else { long });
    sheet.prose(more);
    sheet.heading("Options");
    let own: Vec<&Arg> = command.get_arguments().filter(|arg| !is_everywhere(arg) && arg.get_id() != "help").collect();
    options(&mut sheet, own.into_iter());
    sheet.prose("The options that every command has are described in `git-shadow`(1).");
    let tables = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    tables.iter().for_each(|text| after(&mut sheet, text));
    if name == "hooks" {
        fires(&mut sheet);
    }
    sheet.heading("Exit status");
    sheet.prose("As of every command, described in `git-shadow`(1).");
    sheet.heading("Examples");
    sheet.prose(examples);
    see_also(&mut sheet, &[("git-shadow".into(), "1"), ("shadowrc".into(), "5")]);
    sheet.finish()
}

fn shadowrc() -> String {
    let mut sheet = Sheet::new("shadowrc", "5");
    sheet.heading("Name");
    sheet.prose("shadowrc - what git-shadow takes for a session's, and when it may go");
    sheet.heading("Synopsis");
    sheet.prose("`.shadowrc` at the root of a repository\n\n`$XDG_CONFIG_HOME/git-shadow/config.toml`");
    sheet.heading("Description");
    sheet.prose(text::SHADOWRC);
    for (heading, who) in [("Keys of both files", Who::Both), ("Keys of the user's file", Who::User)] {
        sheet.heading(heading);
        for key in KEYS.iter().filter(|key| key.who == who) {
            let default = format!("Default: {}", key.default);
            let layers = format!("Layers: {}.", key.layers);
            sheet.entry(vec![bold(key.name)], &[said(Some(key.about)), vec![roman(default)], vec![roman(layers)]]);
        }
    }
    sheet.heading("Files");
    table(&mut sheet, &text::FILES[..2]);
    sheet.heading("Examples");
    sheet.prose(text::SHADOWRC_EXAMPLES);
    see_also(&mut sheet, &[("git-shadow".into(), "1"), ("git-shadow-init".into(), "1"), ("gitignore".into(), "5")]);
    sheet.finish()
}

fn is_everywhere(arg: &Arg) -> bool {
    arg.get_help_heading() == Some("Everywhere")
}

/// A text of the program with a full stop: it has none there.
fn sentence(text: Option<impl ToString>) -> String {
    let text = text.map(|text| text.to_string()).unwrap_or_default();
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let text = if text.starts_with("git ") { text.clone() } else { first + letters.as_str() };
    if text.ends_with(['.', ':']) || text.is_empty() { text } else { text + "." }
}

/// `<dir>` of `DIR`, also of `OPERATION|SHADOW`.
fn placeholder(arg: &Arg) -> Option<String> {
    let takes = arg.is_positional() || matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let name =
        takes.then(|| arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string)).flatten()?;
    Some(name.split('|').map(|name| format!("<{}>", name.to_lowercase())).collect::<Vec<_>>().join(" | "))
}

/// `-a`, `--all`, `--format=<template>`, `<shadow>`: all that it is called, the same way as git's manual.
fn spellings(arg: &Arg) -> Vec<Vec<Inline>> {
    let value = placeholder(arg);
    if arg.is_positional() {
        return vec![vec![italic(value.unwrap_or_default())]];
    }
    let mut found = Vec::new();
    if let Some(short) = arg.get_short() {
        let value = value.as_ref().filter(|_| arg.get_long().is_none());
        found.push(
            [vec![bold(format!("-{short}"))], value.map(|v| vec![roman(" "), italic(v)]).unwrap_or_default()].concat(),
        );
    }
    if let Some(long) = arg.get_long() {
        let optional = arg.get_num_args().is_some_and(|number| number.min_values() == 0 && number.takes_values());
        let (open, close) = if optional { ("[=", "]") } else { ("=", "") };
        let value = value.map(|v| vec![roman(open), italic(v), roman(close)]).unwrap_or_default();
        found.push([vec![bold(format!("--{long}"))], value].concat());
    }
    found
}

fn options<'a>(sheet: &mut Sheet, args: impl Iterator<Item = &'a Arg>) {
    for arg in args.filter(|arg| !arg.is_hide_set()) {
        let head = spellings(arg).join(&roman(", "));
        let mut about = sentence(arg.get_long_help().or(arg.get_help()));
        if let (Some(name), Some(value)) = (arg.get_value_names().and_then(|names| names.first()), placeholder(arg)) {
            about = about.replace(name.as_str(), &value);
        }
        let flag = !arg.is_positional() && placeholder(arg).is_none();
        let values = arg.get_possible_values().into_iter().filter(|value| !flag && !value.is_hide_set());
        let (told, bare): (Vec<_>, Vec<_>) = values.partition(|value| value.get_help().is_some());
        let help = |value: &PossibleValue| value.get_help().map(ToString::to_string).unwrap_or_default();
        let mut lines = vec![vec![roman(about)]];
        lines.extend(told.iter().map(|value| vec![bold(value.get_name()), roman(format!(": {}", help(value)))]));
        if !bare.is_empty() {
            let names: Vec<_> = bare.iter().map(|value| value.get_name()).collect();
            lines.push(vec![roman(format!("One of {}.", names.join(", ")))]);
        }
        if let (false, [default]) = (flag, arg.get_default_values()) {
            lines.push(vec![roman(format!("Default: {}.", default.display()))]);
        }
        sheet.entry(head, &lines);
    }
}

/// README's table of what lands work, which the tests of the hooks hold against git itself.
fn fires(sheet: &mut Sheet) {
    sheet.heading("What lands work");
    sheet.prose("No hook sees everything:");
    let readme = include_str!("../../../README.md");
    let rows = readme.lines().skip_while(|line| !line.starts_with("| what lands work |")).skip(2);
    let mut number = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [what, calls, so] = cells[..] else { panic!("{row}") };
        sheet.entry(marked(what), &[marked(&format!("git calls {calls}; {so}."))]);
        number += 1;
    }
    assert!(number > 3, "the table in README is not found");
}

/// Rows with marks.
fn table(sheet: &mut Sheet, rows: &[(&str, &str)]) {
    for (name, about) in rows {
        sheet.entry(vec![bold(*name)], &[marked(about)]);
    }
}

fn said(text: Option<impl ToString>) -> Vec<Inline> {
    vec![roman(sentence(text))]
}

fn synopsis(sheet: &mut Sheet, command: &Command) {
    let mut line = vec![bold(format!("git shadow {}", command.get_name()))];
    let shown =
        command.get_arguments().filter(|arg| !arg.is_hide_set() && !is_everywhere(arg) && arg.get_id() != "help");
    let (words, flags): (Vec<&Arg>, Vec<&Arg>) = shown.partition(|arg| arg.is_positional());
    for arg in flags {
        line.push(roman(" ["));
        line.extend(spellings(arg).join(&roman(" | ")));
        line.push(roman("]"));
    }
    for arg in words {
        let several = if arg.get_num_args().is_some_and(|number| number.max_values() > 1) { "..." } else { "" };
        let (open, close) = if arg.is_required_set() { ("", "") } else { ("[", "]") };
        line.extend([
            roman(format!(" {open}")),
            italic(placeholder(arg).unwrap_or_default()),
            roman(format!("{several}{close}")),
        ]);
    }
    sheet.line(line);
}

/// What stands behind the options: headings, paragraphs, and tables whose rows begin with two spaces.
fn after(sheet: &mut Sheet, text: &str) {
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some((name, about)) = line.strip_prefix("  ").and_then(|row| row.split_once("  ")) {
            sheet.entry(vec![bold(name)], &[said(Some(about.trim_start()))]);
        } else if let Some(heading) = line.strip_suffix(':').filter(|heading| !heading.contains(' ')) {
            sheet.heading(heading);
        } else {
            sheet.plain(line);
        }
    }
}

fn see_also(sheet: &mut Sheet, pages: &[(String, &str)]) {
    sheet.heading("See also");
    let one = |(name, section): &(String, &str)| vec![bold(name.as_str()), roman(format!("({section})"))];
    let all: Vec<Vec<Inline>> = pages.iter().map(one).collect();
    sheet.line(all.join(&roman(", ")));
}
