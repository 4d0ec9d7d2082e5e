//! `git shadow completion`: the script for a shell, and the candidates that it asks for on each key press.
//!
//! The scripts know nothing of commands and options; they hand over the words, so that they fit every version.

mod names;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};

use super::{Context, Options};
use crate::cli::Cli;
use crate::error::{Error, Exit, Result};
use crate::report::Format;

/// Print the completion script of a shell
///
/// bash: put 'eval "$(git shadow completion bash)"' in ~/.bashrc. fish: save it as git-shadow.fish in
/// ~/.config/fish/completions. zsh: save it as _git-shadow in a folder of $fpath. It completes 'git-shadow', and
/// 'git shadow' where the shell completes git.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
    /// Instead of the script, what the last of these words may become
    #[arg(value_name = "WORD", last = true, hide = true)]
    pub words: Vec<OsString>,
}

/// A shell with a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// bash, with or without git's completion
    Bash,
    /// zsh, for its own completion of git
    Zsh,
    /// fish, with its own completion of git
    Fish,
}

impl Shell {
    fn script(self) -> &'static str {
        match self {
            Shell::Bash => include_str!("completion/git-shadow.bash"),
            Shell::Zsh => include_str!("completion/_git-shadow"),
            Shell::Fish => include_str!("completion/git-shadow.fish"),
        }
    }
}

/// Run it.
///
/// # Errors
/// When another form of answer is asked for.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    if context.options.format() != Format::Human {
        return Err(Error::usage(
            "the answer of 'git shadow completion' is a script; it has no '--json' or '--porcelain'",
        ));
    }
    if args.words.is_empty() {
        context.ui.answer(args.shell.script());
    } else {
        context.ui.answer(candidates(args.words.clone(), context));
    }
    Ok(Exit::Done)
}

/// One a line, with its help behind a tab. Whatever goes wrong, nobody wants to read it in the middle of a line.
fn candidates(words: Vec<OsString>, context: &Context<'_>) -> String {
    let mut definition = with_names(&words, context);
    let last = words.len() - 1;
    let wants_option = words[last].as_encoded_bytes().starts_with(b"-");
    let mut found = complete(&mut definition, words, last, Some(&context.dir)).unwrap_or_default();
    let is_option = |candidate: &CompletionCandidate| candidate.get_value().as_encoded_bytes().starts_with(b"-");
    if !wants_option && !found.iter().all(is_option) {
        found.retain(|candidate| !is_option(candidate));
    }
    let lines = found.iter().filter_map(|candidate| {
        let value = candidate.get_value().to_str().filter(|value| !value.contains(char::is_control))?;
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        Some(format!("{value}\t{}\n", help.lines().next().unwrap_or_default()))
    });
    lines.collect()
}

/// The definition of the arguments, in which those that mean shadows and operations know their values.
fn with_names(words: &[OsString], context: &Context<'_>) -> clap::Command {
    let places = names::Places::of(given(words), &context.dir);
    let complete = |argument: clap::Arg| {
        let places = places.clone();
        let values: fn(&names::Places, &str) -> Vec<CompletionCandidate> = match value_name(&argument) {
            Some("SHADOW" | "SESSION") => names::shadows,
            Some("OPERATION|SHADOW") => names::operations,
            Some("TEMPLATE") => names::fields,
            _ => return argument,
        };
        argument.add(ArgValueCompleter::new(move |typed: &std::ffi::OsStr| match typed.to_str() {
            Some(typed) => values(&places, typed),
            None => Vec::new(),
        }))
    };
    Cli::command().mut_subcommands(|command| command.mut_args(&complete))
}

fn value_name(argument: &clap::Arg) -> Option<&str> {
    argument.get_value_names()?.first().map(|name| name.as_str())
}

/// The options that stand before the word: where to look for shadows.
fn given(words: &[OsString]) -> Options {
    let before = words.split_last().map(|(_, before)| before).unwrap_or_default();
    let Ok(matches) = Cli::command().ignore_errors(true).try_get_matches_from(before) else {
        return Options::default();
    };
    let options = |matches: &ArgMatches| Options::from_arg_matches(matches).unwrap_or_default();
    match matches.subcommand() {
        Some((_, behind)) => options(&matches).and(&options(behind)),
        None => options(&matches),
    }
}
