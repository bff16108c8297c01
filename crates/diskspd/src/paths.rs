//! Paths of Windows, translated to Linux by `--map`, or the message that says which map is missing.

use blocklab_syntax::Mistake;
use blocklab_workload::Target;

/// A path that begins with `from`, in any case, begins with `to` here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// `E:\`, `#1`.
    pub from: String,
    /// `/data/`, `/dev/nvme1n1`, `sim:gp3@r5d.xlarge`.
    pub to: String,
}

impl std::str::FromStr for Mapping {
    type Err = Mistake;

    fn from_str(text: &str) -> Result<Self, Mistake> {
        match text.split_once('=') {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok(Self {
                from: from.to_owned(),
                to: to.to_owned(),
            }),
            _ => {
                let wrong = format!("`{text}` is not FROM=TO, such as 'E:\\=/data/'");
                Err(Mistake::new("--map", wrong))
            }
        }
    }
}

/// What a target is called here.
///
/// # Errors
/// A name of Windows that no mapping covers.
pub fn local_name(path: &str, mappings: &[Mapping]) -> Result<String, Mistake> {
    let fitting = mappings.iter().filter(|mapping| {
        let head = path.get(..mapping.from.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(&mapping.from))
    });
    if let Some(longest) = fitting.max_by_key(|mapping| mapping.from.len()) {
        return Ok(joined(longest, &path[longest.from.len()..]));
    }
    let Some(example) = example_mapping(path) else {
        return Ok(path.to_owned());
    };
    let wrong = format!("a name of Windows; map it to a name of Linux: {example}");
    Err(Mistake::new(path, wrong))
}

/// The number of a template such as `*1`; `None` for another name.
///
/// # Errors
/// What begins as a template, and is none.
pub(super) fn template(path: &str) -> Result<Option<usize>, Mistake> {
    let Some(number) = path.strip_prefix('*') else {
        return Ok(None);
    };
    let plain = number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|number| plain && *number > 0);
    number.map(Some).ok_or_else(|| {
        let wrong = "a template is * and a number from 1 on, such as *1";
        Mistake::new(path, wrong)
    })
}

/// The path `rest` below the right side of a mapping. A model and the null target take the place of
/// everything below them.
fn joined(mapping: &Mapping, rest: &str) -> String {
    let to = &mapping.to;
    if !Target::is_path(to) {
        return to.clone();
    }
    // `E:\=/data` and `E:=/data/` mean what `E:\=/data/` does.
    let rest = rest.replace('\\', "/");
    let (to, rest) = if mapping.from.ends_with(['\\', ':']) && !rest.is_empty() {
        (
            format!("{}/", to.trim_end_matches('/')),
            rest.trim_start_matches('/'),
        )
    } else {
        (to.clone(), &*rest)
    };
    format!("{to}{rest}")
}

/// A mapping for a name of Windows; `None` for one of Linux.
fn example_mapping(path: &str) -> Option<String> {
    let mut characters = path.chars();
    let (first, second) = (characters.next()?, characters.next());
    let is_drive = first.is_ascii_alphabetic() && second == Some(':');
    if is_drive && path.len() > 2 {
        return Some(format!("--map '{first}:\\=/data/'"));
    }
    let lower = path.to_ascii_lowercase();
    if first == '#' || is_drive || lower.starts_with(r"\\.\physicaldrive") {
        return Some(format!("--map '{path}=/dev/nvme1n1'"));
    }
    let (folder, _) = path.rsplit_once('\\')?;
    Some(format!("--map '{folder}\\=/data/'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, maps: &[&str], expected: Result<&str, &str>) {
        let maps: Vec<Mapping> = maps
            .iter()
            .map(|map| map.parse().expect("a mapping"))
            .collect();
        match (local_name(path, &maps), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(mistake), Err(hint)) => {
                assert!(mistake.to_string().contains(hint), "{mistake}");
            }
            (found, _) => panic!("{path}: {found:?}"),
        }
    }

    #[test]
    fn names_of_linux_stay() {
        for path in [
            "dummy.dat",
            "/data/x",
            "/dev/nvme0n1",
            "sim:gp3:1TiB@r5d.xlarge",
            "null",
            ".",
        ] {
            check(path, &[], Ok(path));
        }
    }

    #[test]
    fn names_of_windows_are_mapped_by_their_longest_beginning() {
        check(r"E:\dummy.dat", &[r"E:\=/data/"], Ok("/data/dummy.dat"));
        check(
            r"e:\a\b.dat",
            &[r"E:\=/data/", r"E:\a\=/other/"],
            Ok("/other/b.dat"),
        );
        check("#1", &["#1=/dev/nvme1n1"], Ok("/dev/nvme1n1"));
        check(
            r"E:\dummy.dat",
            &[r"E:\=sim:local@r5d.xlarge"],
            Ok("sim:local@r5d.xlarge"),
        );
        check("D:", &["D:=null"], Ok("null"));
        check("D:", &["D:=/dev/sdb"], Ok("/dev/sdb"));
        check(r"E:\x.dat", &[r"E:\=/data"], Ok("/data/x.dat"));
        check(r"E:\x.dat", &["E:=/data/"], Ok("/data/x.dat"));
        check(r"E:\x.dat", &[r"E:\=/"], Ok("/x.dat"));
    }

    #[test]
    fn an_unmapped_name_of_windows_tells_how() {
        check(r"E:\dummy.dat", &[], Err(r"--map 'E:\=/data/'"));
        check("#1", &[], Err("--map '#1=/dev/nvme1n1'"));
        check(
            r"\\.\PhysicalDrive1",
            &[],
            Err(r"--map '\\.\PhysicalDrive1=/dev/nvme1n1'"),
        );
        check("X:", &[r"E:\=/data/"], Err("--map 'X:=/dev/nvme1n1'"));
        check(
            r"\\server\share\x.dat",
            &[],
            Err(r"--map '\\server\share\=/data/'"),
        );
        assert!("E:".parse::<Mapping>().is_err());
    }
}
