//! Work that outlives the program that started it and gets in nobody's way.

use std::os::fd::RawFd;
use std::path::Path;

/// Leave the session of whoever started this process, so that a key press that ends them does not end it, and let go of
/// what they had open beside the standard streams: somebody may wait for the end of a pipe, or for a lock.
/// To be called before anything is opened.
pub fn detach() {
    // A process that leads its session already needs none of its own.
    let _ = rustix::process::setsid();
    for descriptor in inherited() {
        // The one that listed the others is closed already.
        let _ = nix::unistd::close(descriptor);
    }
}

/// What is open beyond the standard streams.
fn inherited() -> Vec<RawFd> {
    let table = ["/proc/self/fd", "/dev/fd"].into_iter().map(Path::new).find_map(|dir| fs_err::read_dir(dir).ok());
    let names = table.into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    names.filter(|descriptor| *descriptor > 2).collect()
}
