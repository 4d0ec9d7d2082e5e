//! The manual in `man/`: made from the arguments' definition and the tables of the code, checked in, and never behind.

mod pages;
mod sheet;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::harness::{Sandbox, skip};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("man")
}

fn checked_in() -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap());
    let read =
        |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap());
    entries.map(read).collect()
}

#[test]
fn the_manual_says_what_the_program_does() {
    let pages = pages::all();
    if std::env::var_os("UPDATE_MAN").is_some() {
        for name in checked_in().keys().filter(|name| !pages.contains_key(*name)) {
            fs::remove_file(folder().join(name)).unwrap();
        }
        for (name, text) in &pages {
            fs::write(folder().join(name), text).unwrap();
        }
    }
    let there = checked_in();
    let behind: Vec<_> =
        pages.iter().filter(|(name, text)| there.get(*name) != Some(text)).map(|(name, _)| name).collect();
    let gone: Vec<_> = there.keys().filter(|name| !pages.contains_key(*name)).collect();
    assert!(
        behind.is_empty() && gone.is_empty(),
        "man/ is behind: {behind:?} {gone:?}; 'UPDATE_MAN=1 cargo nextest run man::' writes it anew"
    );
}

#[test]
fn every_command_has_its_page_with_an_example() {
    for (name, text) in pages::all().iter().filter(|(name, _)| name.ends_with(".1")) {
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"] {
            assert!(
                text.contains(&format!(".SH {section}\n")) || text.contains(&format!(".SH \"{section}\"\n")),
                "{name}: {section}"
            );
        }
    }
}

#[test]
fn the_pages_are_clean_and_fit_eighty_columns() {
    let sandbox = Sandbox::empty();
    let mut mandoc = sandbox.command("mandoc", &folder());
    if mandoc.arg("-h").output().is_err() {
        return skip("the manual as mandoc shows it", "mandoc is not installed");
    }
    for name in checked_in().keys() {
        let run = |args: &[&str]| sandbox.command("mandoc", &folder()).args(args).arg(name).output().unwrap();
        let lint = run(&["-Tlint"]);
        assert!(lint.status.success() && lint.stdout.is_empty(), "{}", String::from_utf8_lossy(&lint.stdout));
        let shown = String::from_utf8(run(&["-Tutf8", "-Owidth=78"]).stdout).unwrap();
        // What is bold is struck twice.
        let plain = |line: &str| line.chars().count() - 2 * line.matches('\u{8}').count();
        let long: Vec<_> = shown.lines().filter(|line| plain(line) > 80).collect();
        assert!(long.is_empty(), "{name}: {long:#?}");
    }
}
