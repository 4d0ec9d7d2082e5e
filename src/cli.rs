//! Arguments: one definition feeds parser, help, completion and manual.

mod usage;

use std::ffi::OsString;
use std::io::ErrorKind;
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

// The arguments of a command, and the options that may also stand before its name. (clap's own global options keep only
// what stands furthest behind, and a repository that was named must not be dropped.) No doc comment: it would be the help.
#[derive(Debug, clap::Args)]
struct With<A: clap::Args> {
    #[command(flatten)]
    options: Options,
    // The last doc comment is the command's help, and these options get no heading of their own.
    #[command(flatten, next_help_heading = None::<&'static str>)]
    args: A,
}

macro_rules! commands {
    ($($variant:ident $module:ident $name:literal,)*) => {
        /// Every command.
        #[derive(Debug, Subcommand)]
        enum Command { $(#[command(name = $name)] $variant(With<commands::$module::Args>),)* }

        impl Command {
            /// As it is typed, for the report.
            fn name(&self) -> &'static str {
                match self { $(Command::$variant(_) => $name,)* }
            }

            /// The options behind its name.
            fn options(&self) -> &Options {
                match self { $(Command::$variant(with) => &with.options,)* }
            }

            fn run(&self, context: &Context<'_>) -> Result<Exit> {
                match self { $(Command::$variant(with) => commands::$module::run(&with.args, context),)* }
            }
        }
    };
}

commands! {
    List list "list",
    Explain explain "explain",
    PruneSessions prune_sessions "prune-sessions",
    Release release "release",
    Undo undo "undo",
    Log log "log",
    Expire expire "expire",
    Finish finish "finish",
    Lease lease "lease",
    Doctor doctor "doctor",
    Hooks hooks "hooks",
    Schedule schedule "schedule",
    Init init "init",
    Hook hook "hook",
    Completion completion "completion",
}

/// All of the program: arguments in, exit code out.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let exit = match Cli::try_parse_from(args) {
        Ok(cli) => run(&cli.command, &cli.options.and(cli.command.options())),
        Err(error) => usage::report(&error),
    };
    ExitCode::from(exit.code())
}

fn run(command: &Command, options: &Options) -> Exit {
    let ui = Ui::new(options.look());
    let always_done = matches!(command, Command::Hook(_));
    let done = check(options).and_then(|()| start(options)).and_then(|dir| {
        let context = Context { ui: &ui, options, dir, command: command.name() };
        command.run(&context).or_else(|error| context.fail(error))
    });
    let exit = done.unwrap_or_else(|error| {
        ui.error(&error);
        error.exit
    });
    let exit = ui.close(exit);
    // Whatever happens to us, git goes on.
    if always_done { Exit::Done } else { exit }
}

/// What the parser cannot tell, because each option may stand before or after the command.
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
    let mut dir = std::env::current_dir().map_err(|error| {
        Error::fatal("no-directory", format!("cannot read the current working directory: {error}"))
            .hint("it may have been released: 'cd' to one that is there")
    })?;
    dir.extend(&options.directory);
    let shown = dir.display();
    let wrong = |why: &str| Error::fatal("no-directory", format!("cannot change to '{shown}': {why}"));
    let resolved = fs_err::canonicalize(&dir).map_err(|error| match error.kind() {
        ErrorKind::NotFound => wrong("no such directory"),
        ErrorKind::PermissionDenied => wrong("permission denied"),
        _ => wrong(&error.to_string()),
    })?;
    if resolved.is_dir() { Ok(resolved) } else { Err(wrong("not a directory")) }
}
