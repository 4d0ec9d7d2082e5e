//! A timer and its service among the user's units.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use gix::bstr::ByteSlice as _;

use super::{Found, Job};
use crate::error::{Error, Result};
use crate::git::tool;
use crate::seal;
use crate::sys::file::{self, Access};

const TIMER: &str = "git-shadow.timer";
const SERVICE: &str = "git-shadow.service";
const HEAD: &str = "# git-shadow schedule ";

fn systemctl(args: &[&str]) -> Result<std::process::Output> {
    tool("systemctl", ["--user"].iter().chain(args)).output()
}

fn told(args: &[&str]) -> Result<()> {
    let output = systemctl(args)?;
    if output.status.success() {
        return Ok(());
    }
    let said = output.stderr.to_str_lossy().trim().replace('\n', "; ");
    Err(Error::failed("systemd", format!("systemctl --user {}: {said}", args.join(" "))))
}

/// Whether a systemd runs for this user.
pub(super) fn is_there() -> bool {
    systemctl(&["show-environment"]).is_ok_and(|output| output.status.success())
}

fn folder() -> Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy().map_err(|e| Error::failed("systemd", e.to_string()))?;
    Ok(strategy.config_dir().join("systemd").join("user"))
}

/// The files, in the order in which they are written: the timer needs its service.
fn files(job: &Job) -> Result<[(PathBuf, Vec<u8>); 2]> {
    // It runs no program whose name holds a quote; a shell does.
    let odd = job.words.iter().take(1).any(|program| program.contains(['\'', '"', '\\']));
    let shell = ["/bin/sh", "-c", "exec \"$0\" \"$@\""].into_iter().filter(|_| odd);
    let exec: Vec<String> = shell.chain(job.words.iter().map(String::as_str)).map(quote).collect();
    // The colon: no variables are replaced.
    let exec = exec.join(" ");
    let service = format!(
        "[Unit]\nDescription=Release shadows whose work is provably safe\n\n\
         [Service]\nType=oneshot\nNice=10\nEnvironment={}\nExecStart=:{exec}\n",
        quote(&format!("PATH={}", job.path)),
    );
    let timer = format!(
        "[Unit]\nDescription=Release shadows whose work is provably safe, every {}\n\n\
         [Timer]\nOnCalendar={}\nPersistent=true\nRandomizedDelaySec=60\n\n[Install]\nWantedBy=timers.target\n",
        job.every.name, job.every.calendar
    );
    let folder = folder()?;
    let sealed = |text: String| seal::seal(HEAD, text.as_bytes(), "\n");
    Ok([(folder.join(SERVICE), sealed(service)?), (folder.join(TIMER), sealed(timer)?)])
}

/// One word of a unit file: in quotes, as C writes it, and `%` is no specifier.
fn quote(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-:+,@".contains(&byte)) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

pub(super) fn look(job: Option<&Job>) -> Result<Option<Found>> {
    let folder = folder()?;
    let wanted = job.map(files).transpose()?;
    let (mut intact, mut current, mut there) = (true, true, false);
    for (at, name) in [SERVICE, TIMER].iter().enumerate() {
        let Some(text) = file::read(&folder.join(name))? else {
            current = false;
            continue;
        };
        there = true;
        intact &= seal::check(HEAD, &text, "\n")? == Some(true);
        current &= wanted.as_ref().is_none_or(|wanted| wanted.get(at).is_some_and(|(_, wanted)| *wanted == text));
    }
    if !there {
        return Ok(None);
    }
    let show = systemctl(&["show", TIMER, "--property=NextElapseUSecRealtime", "--value"]);
    let next = show.map(|output| output.stdout.trim().to_str_lossy().into_owned()).unwrap_or_default();
    let active = systemctl(&["is-active", TIMER]).is_ok_and(|output| output.status.success());
    let idle = (!active).then(|| "systemd does not run it".to_owned());
    let next = (active && !next.is_empty()).then_some(next);
    let place = folder.join(TIMER).display().to_string();
    Ok(Some(Found { intact, current: current && active, place, next, idle }))
}

pub(super) fn put(job: &Job) -> Result<()> {
    told(&["show-environment"])?;
    fs_err::create_dir_all(folder()?)?;
    for (file, text) in files(job)? {
        file::write_atomically(&file, &text, Access::Umask)?;
    }
    told(&["daemon-reload"])?;
    told(&["enable", TIMER])?;
    // Started anew, so that a changed time counts.
    told(&["restart", TIMER])
}

pub(super) fn take() -> Result<()> {
    let folder = folder()?;
    if is_there() {
        told(&["disable", "--now", TIMER])?;
    }
    for name in [TIMER, SERVICE] {
        file::remove(&folder.join(name))?;
    }
    if is_there() { told(&["daemon-reload"]) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr)]
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use super::super::{EVERY, Job};
    use super::files;

    /// systemd itself must find the program, whatever its path holds, and understand every time.
    #[test]
    fn systemd_understands_the_units() {
        if Command::new("systemd-analyze").arg("--version").output().is_err() {
            eprintln!("skipped: systemd-analyze is not there");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        for (name, every) in
            ["plain", "a b", "100%n", "it's", "q\"q", "back\\slash", "$HOME", "${x} ;"].iter().zip(EVERY.iter().cycle())
        {
            let program = dir.path().join(name).join("git-shadow");
            fs_err::create_dir_all(program.parent().unwrap()).unwrap();
            fs_err::write(&program, "#!/bin/sh\n").unwrap();
            fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            let job = Job::new(&program, &[dir.path().join(name)], *every).unwrap();
            let units = files(&job).unwrap().map(|(file, text)| {
                let unit = dir.path().join(file.file_name().unwrap());
                fs_err::write(&unit, text).unwrap();
                unit
            });
            let run = Command::new("systemd-analyze")
                .args(["verify", "--user"])
                .args(&units)
                .env("XDG_RUNTIME_DIR", dir.path())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success() && !said.contains("git-shadow"), "{name}: {said}");
        }
        for every in EVERY {
            let run = Command::new("systemd-analyze").args(["calendar", every.calendar]).output().unwrap();
            assert!(run.status.success(), "{}: {run:?}", every.name);
        }
    }
}
