//! `git shadow`.

fn main() -> std::process::ExitCode {
    git_shadow::cli::main(std::env::args_os())
}
