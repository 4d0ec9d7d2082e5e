//! An agent of launchd.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use gix::bstr::ByteSlice as _;

use super::{Found, Job};
use crate::error::{Error, Result};
use crate::git::tool;
use crate::seal;
use crate::sys::file::{self, Access};
use crate::sys::owner;

const LABEL: &str = "git-shadow.prune-sessions";
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- git-shadow schedule ";
const END: &str = " -->\n";

fn launchctl(args: &[&str]) -> Result<std::process::Output> {
    tool("launchctl", args).output()
}

fn domain() -> String {
    format!("gui/{}", owner::user())
}

fn target() -> String {
    format!("{}/{LABEL}", domain())
}

/// Whether a launchd runs for this user.
pub(super) fn is_there() -> bool {
    cfg!(target_os = "macos") && launchctl(&["print", &domain()]).is_ok_and(|output| output.status.success())
}

fn file() -> Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy().map_err(|e| Error::failed("launchd", e.to_string()))?;
    Ok(strategy.home_dir().join("Library/LaunchAgents").join(format!("{LABEL}.plist")))
}

fn text(job: &Job) -> Result<Vec<u8>> {
    let words: String = job.words.iter().map(|word| format!("    <string>{}</string>\n", escape(word))).collect();
    let body = format!(
        "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{LABEL}</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
         <key>EnvironmentVariables</key>\n  <dict>\n    <key>PATH</key>\n    <string>{}</string>\n  </dict>\n  \
         <key>StartInterval</key>\n  <integer>{}</integer>\n  \
         <key>ProcessType</key>\n  <string>Background</string>\n</dict>\n</plist>\n",
        escape(&job.path),
        job.every.seconds
    );
    seal::seal(HEAD, body.as_bytes(), END)
}

fn escape(word: &str) -> String {
    word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub(super) fn look(job: Option<&Job>) -> Result<Option<Found>> {
    let file = file()?;
    let Some(there) = file::read(&file)? else { return Ok(None) };
    let loaded = launchctl(&["print", &target()]).is_ok_and(|output| output.status.success());
    let wanted = job.map(text).transpose()?;
    Ok(Some(Found {
        intact: seal::check(HEAD, &there, END)? == Some(true),
        current: loaded && wanted.is_none_or(|wanted| wanted == there),
        place: file.display().to_string(),
        next: None,
        idle: (!loaded).then(|| "launchd does not run it".to_owned()),
    }))
}

pub(super) fn put(job: &Job) -> Result<()> {
    let file = file()?;
    if let Some(folder) = file.parent() {
        fs_err::create_dir_all(folder)?;
    }
    file::write_atomically(&file, &text(job)?, Access::Umask)?;
    // One that runs already has to go first; that none does is no failure.
    let _ = launchctl(&["bootout", &target()]);
    let output = launchctl(&["bootstrap", &domain(), &file.display().to_string()])?;
    let said = output.stderr.to_str_lossy().trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(Error::failed("launchd", format!("launchctl bootstrap: {said}"))) }
}

pub(super) fn take() -> Result<()> {
    // That it does not run is no failure.
    let _ = launchctl(&["bootout", &target()]);
    file::remove(&file()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::super::{EVERY, Job};
    use super::{END, HEAD, text};
    use crate::seal;

    #[test]
    fn a_path_is_escaped() {
        let job = Job::new(Path::new("/a & b/<git-shadow>"), &["/c".into()], EVERY[0]).unwrap();
        let text = text(&job).unwrap();
        assert_eq!(seal::check(HEAD, &text, END).unwrap(), Some(true));
        assert!(String::from_utf8(text).unwrap().contains("<string>/a &amp; b/&lt;git-shadow&gt;</string>"));
    }
}
