//! What is shipped: the compiler that it promises to need, and the files of the package.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn cargo(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    let output = command.args(args).args(["--offline", "--locked"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap())
}

#[test]
fn no_dependency_needs_a_newer_compiler_than_the_promised_one() {
    let told = Command::new(Path::new(env!("CARGO")).with_file_name("rustc")).arg("-vV").output().unwrap().stdout;
    let told = String::from_utf8(told).unwrap();
    let host = told.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    // Those of other platforms may not have been fetched.
    let json = cargo(&["metadata", "--format-version", "1", "--filter-platform", host]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let packages = json["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "{}", packages.len());
    let promised = version(env!("CARGO_PKG_RUST_VERSION"));
    let newer = packages.iter().filter_map(|package| {
        let needed = package["rust_version"].as_str()?;
        (version(needed) > promised).then(|| format!("{} {needed}", package["name"]))
    });
    assert_eq!(newer.collect::<Vec<_>>(), [""; 0]);
    let readme = fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    assert!(readme.contains(&format!("{}.{} or newer", promised.0, promised.1)), "README names another compiler");
}

#[test]
fn the_package_has_all_that_it_installs_and_its_licences() {
    let list = cargo(&["package", "--list", "--no-verify", "--allow-dirty"]);
    let files: Vec<_> = list.lines().collect();
    for name in [
        "Cargo.lock",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "hooks/post-merge",
        "hooks/pre-push",
        "install.sh",
        "man/git-shadow.1",
        "man/shadowrc.5",
        "src/commands/completion/git-shadow.fish",
        "src/main.rs",
        "tests/fleet/make_fleet.py",
        "tests/workflows/main.rs",
    ] {
        assert!(files.contains(&name), "'{name}' is not in {files:?}");
    }
    let known =
        ["src/", "tests/", "man/", "hooks/", "Cargo.", "LICENSE-", "README.md", "install.sh", ".cargo_vcs_info"];
    let other: Vec<_> = files.iter().filter(|file| !known.iter().any(|start| file.starts_with(start))).collect();
    assert!(other.is_empty(), "{other:?}");
}
