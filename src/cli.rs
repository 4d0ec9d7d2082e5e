//! Arguments: one definition feeds parser, help, completion and manual.

mod usage;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Parser, Subcommand};

use crate::commands::{self, Context, Options};
use crate::error::{Error, Exit, Result};
use crate::ui::Ui;

/// As git colours its own.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Release agents' worktrees and branches whose work is provably safe, and take it back when asked.
#[derive(Debug, Parser)]
#[command(
    name = "git-shadow",
    bin_name = "git shadow",
    version,
    styles = STYLES,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "Shadows are named by branch, short session id, registration id or path."
)]
pub struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

/// Every command.
#[derive(Debug, Subcommand)]
enum Command {
    List(commands::list::Args),
    Explain(commands::explain::Args),
    PruneSessions(commands::prune_sessions::Args),
    Release(commands::release::Args),
    Undo(commands::undo::Args),
    Log(commands::log::Args),
    Expire(commands::expire::Args),
    Init(commands::init::Args),
}

impl Command {
    /// As it is typed, for the report.
    fn name(&self) -> &'static str {
        match self {
            Command::List(_) => "list",
            Command::Explain(_) => "explain",
            Command::PruneSessions(_) => "prune-sessions",
            Command::Release(_) => "release",
            Command::Undo(_) => "undo",
            Command::Log(_) => "log",
            Command::Expire(_) => "expire",
            Command::Init(_) => "init",
        }
    }

    fn run(&self, context: &Context) -> Result<Exit> {
        match self {
            Command::List(args) => commands::list::run(args, context),
            Command::Explain(args) => commands::explain::run(args, context),
            Command::PruneSessions(args) => commands::prune_sessions::run(args, context),
            Command::Release(args) => commands::release::run(args, context),
            Command::Undo(args) => commands::undo::run(args, context),
            Command::Log(args) => commands::log::run(args, context),
            Command::Expire(args) => commands::expire::run(args, context),
            Command::Init(args) => commands::init::run(args, context),
        }
    }
}

/// All of the program: arguments in, exit code out.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let exit = match Cli::try_parse_from(args) {
        Ok(cli) => run(&cli),
        Err(error) => usage::report(&error),
    };
    ExitCode::from(exit.code())
}

fn run(cli: &Cli) -> Exit {
    let ui = Ui::new(cli.options.look());
    let done = check(&cli.options).and_then(|()| start(&cli.options)).and_then(|dir| {
        let context = Context { ui: &ui, options: &cli.options, dir, command: cli.command.name() };
        cli.command.run(&context).or_else(|error| context.fail(error))
    });
    let exit = done.unwrap_or_else(|error| {
        ui.error(&error);
        error.exit
    });
    ui.close(exit)
}

/// What the parser cannot tell, because an option may stand before or after the command.
fn check(options: &Options) -> Result<()> {
    if options.json && (options.porcelain || options.nul) {
        return Err(Error::usage("options '--json' and '--porcelain' cannot be used together"));
    }
    if options.quiet && options.verbose {
        return Err(Error::usage("options '-q' and '-v' cannot be used together"));
    }
    Ok(())
}

/// Where it starts, links resolved: the working directory, then each `-C` from there.
fn start(options: &Options) -> Result<PathBuf> {
    let mut dir = std::env::current_dir()
        .map_err(|error| Error::fatal("no-directory", format!("cannot read the current working directory: {error}")))?;
    dir.extend(&options.directory);
    let shown = dir.display();
    let wrong =
        |why: &dyn std::fmt::Display| Error::fatal("no-directory", format!("cannot change to '{shown}': {why}"));
    let resolved = fs_err::canonicalize(&dir).map_err(|error| wrong(&error.kind()))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(wrong(&"not a directory")) }
}
