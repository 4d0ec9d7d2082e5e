//! The `.shadowrc` that `init` writes: every key with its default, all of it commented out, so that it changes nothing
//! until somebody decides something, and does not freeze the defaults of today.

use super::{KEYS, Who};

/// Something found in the repository that a key might be set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The key.
    pub key: &'static str,
    /// The pattern or path.
    pub value: String,
    /// What it stands for, in words.
    pub found: String,
}

const HEAD: &str = "\
# What git-shadow may take for a session's, and when it may release it.
# TOML. Every key is shown with its built-in value, or with what was found; take the '#' away to set one.
# This file describes the project: it runs nothing, names no place to delete in and shortens no grace.
";

const USERS: &str = "\
# The following are for your own $XDG_CONFIG_HOME/git-shadow/config.toml; here they are an error.
";

/// The text of a new file.
pub fn template(proposals: &[Proposal]) -> String {
    let mut text = HEAD.to_owned();
    write_keys(&mut text, Who::Both, "# ", proposals);
    text.push('\n');
    text.push_str(USERS);
    write_keys(&mut text, Who::User, "#   ", proposals);
    text
}

fn write_keys(text: &mut String, who: Who, comment: &str, proposals: &[Proposal]) {
    for key in KEYS.iter().filter(|key| key.who == who) {
        text.push_str(&format!("\n#: {} ({})\n", key.about, key.layers));
        let found: Vec<&Proposal> = proposals.iter().filter(|proposal| proposal.key == key.name).collect();
        for proposal in &found {
            text.push_str(&format!("#: found {}: {}\n", proposal.value.escape_debug(), proposal.found));
        }
        let values: Vec<String> = found.iter().map(|proposal| proposal.value.clone()).collect();
        let value = match key.name {
            _ if !values.is_empty() => toml::Value::from(values).to_string(),
            // The sessions folder depends on the machine, so the table has words for it.
            "shadows.roots" => "[]".into(),
            _ => key.default.into(),
        };
        text.push_str(&format!("{comment}{} = {value}\n", key.name));
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::File;
    use super::super::{KEYS, Source};
    use super::*;

    fn proposals() -> Vec<Proposal> {
        let proposal = |key, value: &str| Proposal { key, value: value.into(), found: "3 branches".into() };
        vec![proposal("shadows.branches", "bot\"s/**"), proposal("shadows.roots", "/x/y")]
    }

    #[test]
    fn it_says_nothing_as_it_is_written() {
        let text = template(&proposals());
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
        assert!(File::parse(Source::Repo("x".into()), "x", text.as_bytes()).is_ok());
    }

    #[test]
    fn every_line_can_be_taken_into_use_where_it_belongs() {
        let text = template(&proposals());
        let mut lines = 0;
        for (comment, source) in [("# ", Source::Repo("x".into())), ("#   ", Source::User("x".into()))] {
            let set = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase()) && line.contains(" = ");
            for line in text.lines().filter_map(|line| line.strip_prefix(comment)).filter(set) {
                let read = File::parse(source.clone(), "x", line.as_bytes()).map(|_| ());
                assert!(read.is_ok(), "{line}: {read:?}");
                lines += 1;
            }
        }
        assert_eq!(lines, KEYS.len());
    }
}
