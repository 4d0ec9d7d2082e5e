//! A line in the user's table of cron; every other line stays as it is.

use gix::bstr::ByteSlice as _;

use super::{Found, Job};
use crate::error::{Error, Result};
use crate::git::tool;
use crate::model::shell;
use crate::seal;

/// Behind the command, where the shell takes it for a comment; the checksum of what stands before it follows.
const MARK: &str = " # git-shadow schedule ";

/// Longer lines are cut by some crons.
const LONGEST: usize = 900;

/// Whether there is a cron.
pub(super) fn is_there() -> bool {
    table().is_ok()
}

/// The table as it is; `None` where the user has none.
fn table() -> Result<Option<Vec<u8>>> {
    let output = tool("crontab", ["-l"]).output()?;
    if output.status.success() {
        return Ok(Some(output.stdout));
    }
    let said = output.stderr.to_str_lossy();
    let none = output.stdout.is_empty() && said.contains("no crontab for");
    if none { Ok(None) } else { Err(Error::failed("cron", format!("crontab -l: {}", said.trim()))) }
}

fn write(table: &[u8]) -> Result<()> {
    let call = if table.is_empty() { tool("crontab", ["-r"]) } else { tool("crontab", ["-"]).input(table) };
    call.run().map(|_| ())
}

fn line(job: &Job) -> Result<Vec<u8>> {
    // cron ends the command at a '%' and gives the rest to it as input.
    // It mails what is printed: of interest is what went wrong.
    let command = format!("PATH={} {} >/dev/null", shell::word(&job.path), job.command()).replace('%', "\\%");
    let body = format!("{} {command}", job.every.cron);
    let line = format!("{body}{MARK}{}\n", seal::sum(body.as_bytes())?);
    if line.len() > LONGEST {
        return Err(Error::failed("cron", format!("a line of cron's table cannot be longer than {LONGEST} bytes"))
            .hint("name one directory above them with --under"));
    }
    Ok(line.into())
}

/// Whether a line is ours; then, whether it is as it was written.
fn is_ours(line: &[u8]) -> Result<Option<bool>> {
    match line.trim_end().rsplit_once_str(MARK) {
        Some((body, sum)) => Ok(Some(seal::sum(body)?.as_bytes() == sum)),
        None => Ok(None),
    }
}

/// The lines that are ours, and the table without them.
fn split(table: &[u8]) -> Result<(Vec<Vec<u8>>, Vec<u8>)> {
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for line in table.split_inclusive(|byte| *byte == b'\n') {
        match is_ours(line)? {
            Some(_) => ours.push(line.to_vec()),
            None => others.extend_from_slice(line),
        }
    }
    Ok((ours, others))
}

pub(super) fn look(job: Option<&Job>) -> Result<Option<Found>> {
    let (ours, _) = split(&table()?.unwrap_or_default())?;
    let Some(first) = ours.first() else { return Ok(None) };
    let intact = ours.iter().map(|line| is_ours(line)).collect::<Result<Vec<_>>>()?;
    let wanted = job.map(line).transpose()?;
    Ok(Some(Found {
        intact: intact.iter().all(|one| *one == Some(true)),
        current: ours.len() == 1 && wanted.is_none_or(|wanted| wanted == *first),
        place: first.rsplit_once_str(MARK).map_or(&first[..], |(body, _)| body).to_str_lossy().into_owned(),
        next: None,
        idle: None,
    }))
}

pub(super) fn put(job: &Job) -> Result<()> {
    let (_, mut others) = split(&table()?.unwrap_or_default())?;
    if others.last().is_some_and(|byte| *byte != b'\n') {
        others.push(b'\n');
    }
    others.extend(line(job)?);
    write(&others)
}

pub(super) fn take() -> Result<()> {
    match table()? {
        Some(table) => write(&split(&table)?.1),
        None => Ok(()),
    }
}
