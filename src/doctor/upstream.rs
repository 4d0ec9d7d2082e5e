//! The upstream of a base's local branch: where it follows a shadow's branch, one that is gone, or another name than its
//! own, `git pull` brings the wrong thing, and `git status` compares with it.

use gix::bstr::{BStr, BString, ByteSlice as _};

use super::{Found, Scene};
use crate::error::{Error, Result, chain};
use crate::git::{bases, fetch};
use crate::journal::{ConfigChange, Repair};
use crate::model::{Finding, Trouble, shell, short_name};

pub(super) fn look(scene: &Scene<'_>) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for branch in scene.base_branches() {
        found.extend(one(scene, &branch)?);
    }
    Ok(found)
}

fn one(scene: &Scene<'_>, branch: &BString) -> Result<Option<Found>> {
    let short = short_name(branch.as_ref()).to_owned();
    let config = scene.gix.config_snapshot();
    let value = |key: &str| config.plumbing().string_by("branch", Some(short.as_bstr()), key);
    let (Some(remote), Some(merge)) = (value("remote"), value("merge")) else { return Ok(None) };
    let Some(why) = astray(scene, branch, &remote, &merge)? else { return Ok(None) };
    let message = format!("branch '{short}' follows {why}");
    let mut finding = Finding::new(Trouble::Upstream, message).of(branch.clone());
    let shown = shell::word(&short);
    let Some(right) = right_remote(scene, branch, &remote) else {
        return Ok(Some(finding.remedy(format!("{} branch --unset-upstream {shown}", scene.git)).into()));
    };
    let upstream = shell::word(format!("{right}/{short}"));
    finding = finding.remedy(format!("{} branch --set-upstream-to={upstream} {shown}", scene.git));
    let changes = [("remote", remote, right), ("merge", merge, branch.clone())];
    let changes: Vec<ConfigChange> = changes
        .into_iter()
        .filter(|(_, before, after)| before != after)
        .map(|(key, before, after)| ConfigChange {
            section: "branch".into(),
            subsection: short.clone(),
            key: key.into(),
            before: Some(before),
            after: Some(after),
        })
        .collect();
    Ok(Some(match is_plain(scene, &short)? {
        true => Found::repaired(finding, short, Repair::SetUpstream { changes }),
        false => {
            finding.detail = Some("its configuration is not in one plain place".into());
            finding.into()
        }
    }))
}

/// Where the upstream leads to, when that is not where it should; `None`: it is in order, or somebody's choice.
fn astray(scene: &Scene<'_>, branch: &BString, remote: &BString, merge: &BString) -> Result<Option<String>> {
    let shown = short_name(merge.as_ref());
    let from = if remote == "." { String::new() } else { format!(" of '{remote}'") };
    if scene.policy.is_shadow_branch(merge.as_ref()) {
        return Ok(Some(format!("the shadow's branch '{shown}'{from}")));
    }
    if remote == "." {
        let gone = !scene.discovery.refs.heads.contains_key(merge);
        return Ok(gone.then(|| format!("'{shown}', which is gone")));
    }
    if !scene.gix.remote_names().iter().any(|name| name == remote) {
        // An address may stand there as well.
        let named = !remote.iter().any(|byte| b":/".contains(byte));
        return Ok(named.then(|| format!("'{shown}'{from}, a remote that is not configured")));
    }
    let name = gix::refs::FullName::try_from(branch.clone())
        .map_err(|e| Error::failed("ref", format!("'{branch}': {}", chain(&e))))?;
    match scene.gix.branch_remote_tracking_ref_name(name.as_ref(), gix::remote::Direction::Fetch) {
        Some(Ok(tracking)) if !exists(scene, tracking.as_bstr())? => {
            Ok(Some(format!("'{shown}'{from}, which is gone")))
        }
        Some(Err(e)) => {
            Err(Error::failed("upstream", format!("cannot tell the upstream of '{branch}': {}", chain(&e))))
        }
        Some(Ok(_)) | None if merge != branch && has(scene, remote, branch) => {
            Ok(Some(format!("'{shown}'{from}, which has a branch of its own name")))
        }
        Some(Ok(_)) | None => Ok(None),
    }
}

fn exists(scene: &Scene<'_>, name: &BStr) -> Result<bool> {
    let found = bases::follow(&scene.gix, name).map_err(|why| Error::failed("ref", why))?;
    Ok(matches!(found, bases::Followed::Found(..)))
}

/// Whether the remote has a branch of this name, as far as it was fetched.
fn has(scene: &Scene<'_>, remote: &BString, branch: &BString) -> bool {
    let tracking: BString =
        [b"refs/remotes/", remote.as_slice(), b"/", short_name(branch.as_ref()).as_bytes()].concat().into();
    scene.discovery.refs.remotes.contains_key(&tracking)
        && bases::remote_of(&scene.gix, tracking.as_ref()).as_ref() == Some(remote)
        && fetch::brings(&scene.gix, remote.as_ref(), branch.as_ref(), tracking.as_ref())
}

/// The remote that has the branch: the one that it follows already, else the only one.
fn right_remote(scene: &Scene<'_>, branch: &BString, now: &BString) -> Option<BString> {
    let mut having: Vec<BString> =
        scene.gix.remote_names().into_iter().filter(|remote| has(scene, remote, branch)).collect();
    if having.contains(now) {
        return Some(now.clone());
    }
    having.pop().filter(|_| having.is_empty())
}

/// Whether both values stand once, in the repository's own file.
fn is_plain(scene: &Scene<'_>, short: &BString) -> Result<bool> {
    let file = scene.repo.common_dir().join("config");
    let own = gix::config::File::from_path_no_includes(file, gix::config::Source::Local)
        .map_err(|e| Error::failed("config", chain(&e)))?;
    let all = scene.gix.config_snapshot();
    let once = |config: &gix::config::File, key: &str| {
        config.raw_values_by("branch", Some(short.as_bstr()), key).is_ok_and(|values| values.len() == 1)
    };
    Ok(["remote", "merge"].iter().all(|key| once(&own, key) && once(all.plumbing(), key)))
}
