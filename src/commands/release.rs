//! `git shadow release`: release just these, graces waived.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Mutex;

use super::sweep::{self, Order, Swept};
use super::{Context, fleet, select};
use crate::discover::discover;
use crate::error::{Error, Exit, Result};
use crate::journal::new_id;
use crate::judge::Terms;
use crate::lease::Leases;
use crate::model::{Shadow, Verdict};
use crate::policy;
use crate::report::{Report, View};
use crate::sys::clock;
use crate::sys::threads::locked;

/// Release just these shadows, their grace waived
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Branch, short session id, registration id or path
    #[arg(value_name = "SHADOW", required = true)]
    pub shadows: Vec<OsString>,
    /// Only say what would be done
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Run it.
///
/// # Errors
/// When a name means no shadow, or several; then nothing is released.
pub fn run(args: &Args, context: &Context<'_>) -> Result<Exit> {
    let host = fleet::host(context, clock::now());
    let operation = new_id(host.now);
    let named = Named::default();
    let until = Mutex::new(None);
    let repositories = fleet::run(context, fleet::ONE_BY_ONE, |repo| {
        let policy = policy::load(repo)?;
        let terms = Terms { named: true, ..Terms::default() };
        let order = Order { context, policy: &policy, host: &host, terms, operation: &operation, fetched: false };
        let pick = |shadows: &[Shadow]| named.pick(&args.shadows, shadows, &host.leases, context);
        if args.dry_run {
            let shadows = discover(repo, &repo.local(), &policy, &host.leases)?.shadows;
            return sweep::plan(repo, order, Some(&pick(&shadows)?));
        }
        let Swept { report, undo_until } =
            sweep::carry_out(repo, &sweep::lock(repo)?, order, None, |shadows| pick(shadows).map(Some))?;
        let mut until = locked(&until);
        *until = sweep::earlier(*until, undo_until);
        Ok(report)
    })?;
    named.all(&args.shadows)?;
    let undo_until = *locked(&until);
    let report = Report {
        command: context.command,
        dry_run: args.dry_run,
        generated_at: host.now,
        repositories,
        session_roots: Vec::new(),
        operation: undo_until.map(|_| operation),
    };
    let exit = context.tell(&report, &View { all: true, undo_until, ..View::default() });
    let mut shadows = report.repositories.iter().flat_map(|repository| &repository.shadows);
    let kept = shadows.any(|shadow| matches!(shadow.judgement.verdict, Verdict::Held | Verdict::Foreign));
    Ok(if exit == Exit::Done && kept { Exit::No } else { exit })
}

/// Which of the words were understood so far, over all repositories.
#[derive(Debug, Default)]
struct Named {
    known: Mutex<BTreeSet<OsString>>,
    unknown: Mutex<Option<Error>>,
}

impl Named {
    fn pick(
        &self,
        words: &[OsString],
        shadows: &[Shadow],
        leases: &Leases,
        context: &Context<'_>,
    ) -> Result<Vec<Shadow>> {
        let mut picked: Vec<Shadow> = Vec::new();
        for word in words {
            match select::select(word, shadows, leases, &context.dir) {
                Ok(shadow) => {
                    locked(&self.known).insert(word.clone());
                    if !picked.contains(shadow) {
                        picked.push(shadow.clone());
                    }
                }
                // Another repository may know it.
                Err(error) if error.code == "no-such-shadow" && context.options.many() => {
                    locked(&self.unknown).get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(picked)
    }

    fn all(&self, words: &[OsString]) -> Result<()> {
        let known = locked(&self.known);
        match locked(&self.unknown).take() {
            Some(error) if words.iter().any(|word| !known.contains(word)) => Err(error),
            Some(_) | None => Ok(()),
        }
    }
}
