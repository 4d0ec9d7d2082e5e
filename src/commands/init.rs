//! `git shadow init`: write a commented .shadowrc.

mod detect;

use std::io::Write as _;

use super::Context;
use crate::error::{Error, Exit, Result};
use crate::git::Repository;
use crate::policy::{self, FILE_NAME};
use crate::report::Format;
use crate::ui::safe_path;

/// Write a commented .shadowrc
///
/// Every key is in it with its built-in value, commented out: the file changes nothing until it is edited.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Propose patterns and roots from the worktrees and branches that are there
    #[arg(long)]
    pub detect: bool,
    /// Print the file instead of writing it
    #[arg(long)]
    pub stdout: bool,
}

/// Run it.
///
/// # Errors
/// When there is a file already, no checkout to write it in, a bad policy file, or the repository cannot be read.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    if context.options.format() != Format::Human {
        return Err(Error::usage("the answer of 'git shadow init' is a file; it has no '--json' or '--porcelain'"));
    }
    let repo = context.repository()?;
    let proposals = if args.detect { detect::proposals(&repo, &policy::load(&repo)?)? } else { Vec::new() };
    let text = policy::template(&proposals);
    if args.stdout {
        context.ui.answer(text);
        return Ok(Exit::Done);
    }
    let path = write(&repo, &text)?;
    context.ui.note(&format!("wrote '{}'", safe_path(&path)));
    match (args.detect, proposals.is_empty()) {
        (true, true) => context.ui.note("no worktree or branch there looks like a session's"),
        (true, false) => {
            context.ui.hint("what was found is in it as comments; take the '#' away from what is a session's");
        }
        (false, _) => {}
    }
    Ok(Exit::Done)
}

/// Write it in the canonical checkout, never over anything.
fn write(repo: &Repository, text: &str) -> Result<std::path::PathBuf> {
    let Some(checkout) = repo.work_dir() else {
        return Err(Error::fatal("no-checkout", "a bare repository has no checkout to write '.shadowrc' in")
            .hint("print it with 'git shadow init --stdout' and commit it to the base"));
    };
    let path = checkout.join(FILE_NAME);
    let file = fs_err::OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::fatal("exists", format!("'{}' exists already", path.display()))
            .hint("'git shadow init --stdout' prints what would be written"),
        _ => error.into(),
    })?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}
