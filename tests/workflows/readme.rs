//! The README says what the program does: every code, every command.

use std::path::Path;

use clap::CommandFactory as _;
use fs_err as fs;
use git_shadow::cli::Cli;
use git_shadow::model::Code;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

#[test]
fn every_hold_code_is_explained() {
    let text = readme();
    let missing: Vec<_> = Code::ALL.iter().filter(|code| !text.contains(&format!("`{code}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_command_is_named_and_no_other() {
    let text = readme();
    let commands = Cli::command();
    let names: Vec<_> = commands.get_subcommands().filter(|c| !c.is_hide_set()).map(clap::Command::get_name).collect();
    for name in &names {
        assert!(text.contains(&format!("| `git shadow {name}")), "'{name}' is missing");
    }
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `git shadow "));
    for row in rows {
        let named = row.split([' ', '`']).next().unwrap();
        assert!(names.contains(&named), "'{named}' is not there");
    }
}
