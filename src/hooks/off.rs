//! What switches a hook off although git calls it.

use std::path::Path;

use gix::bstr::ByteSlice as _;

use crate::error::Result;
use crate::git::{Git, Repository};
use crate::model::Event;
use crate::policy::{Policy, Source, Sourced};

/// The variable that switches the hooks off for everything below a process.
const VARIABLE: &str = "GIT_SHADOW_HOOKS";

/// The setting of git's that switches them off.
const SETTING: &str = "shadow.hooks";

/// What switches an event's hook off, where git runs in `start`.
///
/// # Errors
/// When git's configuration cannot be read.
pub fn off(policy: &Policy, start: &Path, event: Event) -> Result<Option<String>> {
    let value = switch(policy, event);
    if !value.value {
        let from = value.from.iter().find_map(|source| match source {
            Source::User(path) => Some(format!("'{}'", path.display())),
            Source::Repo(file) => Some(format!("'{file}'")),
            Source::Default | Source::Option => None,
        });
        return Ok(Some(format!(
            "hooks.{} = false in {}",
            event.as_str(),
            from.unwrap_or_else(|| "policy".to_owned())
        )));
    }
    let set = Git::new(start, ["config", "--type=bool", "--get", SETTING]).output()?;
    if set.status.success() && set.stdout.trim() == b"false" {
        return Ok(Some(format!("{SETTING} = false in git's configuration")));
    }
    Ok(by_environment().then(|| format!("{VARIABLE} in the environment")))
}

/// Whether neither policy nor git's configuration switches an event's hook off.
pub fn is_on(repo: &Repository, policy: &Policy, event: Event) -> bool {
    switch(policy, event).value && repo.local().config_snapshot().boolean(SETTING) != Some(false)
}

fn switch(policy: &Policy, event: Event) -> &Sourced<bool> {
    match event {
        Event::PostMerge => &policy.hook_post_merge,
        Event::PrePush => &policy.hook_pre_push,
    }
}

/// Whether `GIT_SHADOW_HOOKS` is what git takes for false.
pub fn by_environment() -> bool {
    let value = std::env::var(VARIABLE).map(|value| value.to_ascii_lowercase());
    value.is_ok_and(|value| ["0", "false", "no", "off"].contains(&value.as_str()))
}
