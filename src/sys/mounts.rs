//! The mount table, and where a path lies on its file system, whatever it is called.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::Result;

/// A place on a file system: the device as the table names it, and the path from the root of the file system.
type Place = (Vec<u8>, PathBuf);

/// The mounts that a process sees.
#[derive(Debug, Clone, Default)]
pub struct Mounts {
    /// By mount point; where several are mounted over each other, the last one is what is seen.
    by_point: HashMap<PathBuf, Place>,
}

impl Mounts {
    /// The mounts that this process sees.
    ///
    /// # Errors
    /// When the table cannot be read; always where the system has none.
    #[cfg(target_os = "linux")]
    pub fn read() -> Result<Mounts> {
        Ok(Mounts::parse(&fs_err::read("/proc/self/mountinfo")?))
    }

    /// The mounts that this process sees.
    ///
    /// # Errors
    /// Always: this system's table is not read yet.
    #[cfg(not(target_os = "linux"))]
    pub fn read() -> Result<Mounts> {
        Err(crate::error::Error::failed("mounts", "the mount table of this system cannot be read"))
    }

    /// Of a text in the form of `/proc/<pid>/mountinfo`: id, parent, device, root, point, options, …
    #[cfg(target_os = "linux")]
    pub(super) fn parse(table: &[u8]) -> Mounts {
        use gix::bstr::ByteSlice as _;
        let mount = |line: &[u8]| {
            let mut fields = line.split(|b| *b == b' ').skip(2);
            let (device, root, point) = (fields.next()?, fields.next()?, fields.next()?);
            Some((unescaped(point), (device.to_owned(), unescaped(root))))
        };
        Mounts { by_point: table.lines().filter_map(mount).collect() }
    }

    /// What is mounted at or below a resolved path, and where else it, or a part of it, is mounted. Sorted.
    pub fn at_or_below(&self, path: &Path) -> Vec<PathBuf> {
        let source = self.place(path);
        let inside = |point: &Path, place: &Place| {
            point.starts_with(path)
                || source.as_ref().is_some_and(|(device, from)| place.0 == *device && place.1.starts_with(from))
        };
        let mut points: Vec<PathBuf> = self
            .by_point
            .iter()
            .filter(|(point, place)| inside(point, place))
            .map(|(point, _)| point.clone())
            .collect();
        points.sort();
        points
    }

    /// Where a path lies, by the mount it is on.
    pub(super) fn place(&self, path: &Path) -> Option<Place> {
        let point = path.ancestors().find(|above| self.by_point.contains_key(*above))?;
        let (device, root) = self.by_point.get(point)?;
        let rest = path.strip_prefix(point).ok()?;
        Some((device.clone(), if rest.as_os_str().is_empty() { root.clone() } else { root.join(rest) }))
    }

    /// Whether a part of what lies there (or it itself) is mounted here.
    pub(super) fn shows_only(&self, place: &Place) -> Option<&Path> {
        let part = |(_, (device, root)): &(&PathBuf, &Place)| *device == place.0 && root.starts_with(&place.1);
        self.by_point.iter().find(part).map(|(point, _)| point.as_path())
    }
}

impl Mounts {
    /// Every mount point with the place that it hides.
    pub(super) fn hides(&self) -> Vec<(Place, &Path)> {
        let hidden = |point: &PathBuf| {
            let (device, above) = self.place(point.parent()?)?;
            Some((device, above.join(point.file_name()?)))
        };
        self.by_point.keys().filter_map(|point| Some((hidden(point)?, point.as_path()))).collect()
    }
}

/// A path of the kernel's tables: space, tab, line feed and backslash are written as `\ooo`.
#[cfg(target_os = "linux")]
pub(super) fn unescaped(field: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, more)) = rest.split_first() {
        let octal = more.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                path.push(byte);
                rest = &more[3..];
            }
            _ => {
                path.push(*first);
                rest = more;
            }
        }
    }
    std::ffi::OsString::from_vec(path).into()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
28 27 254:0 /home/u/wt/sub /mnt/bind rw - ext4 /dev/vda rw
29 27 0:40 / /home/u/wt/a\\040b rw - tmpfs none rw
30 27 254:0 /home /srv/home\\134x rw shared:1 - ext4 /dev/vda rw
garbage
";

    #[test]
    fn a_mount_in_it_and_its_mount_elsewhere_are_found() {
        let mounts = Mounts::parse(TABLE);
        let found = mounts.at_or_below(Path::new("/home/u/wt"));
        assert_eq!(found, [Path::new("/home/u/wt/a b"), Path::new("/mnt/bind")]);
        assert!(mounts.at_or_below(Path::new("/home/u/w")).is_empty());
        assert_eq!(mounts.at_or_below(Path::new("/home/u/wt/a b")), [Path::new("/home/u/wt/a b")]);
    }

    #[test]
    fn what_a_mount_hides_is_found_by_its_place() {
        let mounts = Mounts::parse(TABLE);
        let at = mounts.place(Path::new("/home/u/wt")).map(|(device, root)| (device, root.join("a b")));
        let found = mounts.hides().into_iter().find(|(_, point)| *point == Path::new("/home/u/wt/a b"));
        assert_eq!(found.map(|(place, _)| place), at);
    }

    #[test]
    fn a_place_has_one_name() {
        let mounts = Mounts::parse(TABLE);
        assert_eq!(mounts.place(Path::new("/srv/home\\x/u/wt/sub/f")), mounts.place(Path::new("/home/u/wt/sub/f")));
        assert_eq!(mounts.place(Path::new("/mnt/bind/f")), mounts.place(Path::new("/home/u/wt/sub/f")));
        assert_ne!(mounts.place(Path::new("/home/u/wt/a b/f")), mounts.place(Path::new("/home/u/wt/f")));
    }

    #[test]
    fn escapes() {
        assert_eq!(unescaped(b"/a\\040b\\134\\012"), Path::new("/a b\\\n"));
        assert_eq!(unescaped(b"/a\\04"), Path::new("/a\\04"));
        assert_eq!(unescaped(b"\\999"), Path::new("\\999"));
    }
}
