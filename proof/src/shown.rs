//! Which cases show that an option of a foreign tool is honoured exactly. A row of a table is
//! called exact only where `proof/data/exact` names at least one.

use std::collections::BTreeMap;
use std::fs;

use crate::root;

/// The cases of each option, by its name.
pub type Cases = BTreeMap<String, Vec<String>>;

/// What `proof/data/exact/TOOL.txt` says: a line an option, `name: case case …`. A case is a file
/// of the corpus, or `FILE.rs::FUNCTION`, a test.
///
/// # Panics
/// When the file cannot be read, or a line is not of that form, or an option has two lines.
#[must_use]
pub fn cases(tool: &str) -> Cases {
    let path = root().join(format!("proof/data/exact/{tool}.txt"));
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let mut cases = Cases::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (option, names) = line.split_once(": ").expect("`option: case case …`");
        let names = names.split_whitespace().map(str::to_owned).collect();
        let before = cases.insert(option.to_owned(), names);
        assert!(before.is_none(), "{option} has two lines");
    }
    cases
}

/// The body of a test function, which must be marked as one, in a file below the root.
///
/// # Errors
/// When there is no such file, or no such test in it.
pub fn body(case: &str) -> Result<String, String> {
    let (file, name) = case.split_once("::").ok_or("no `FILE.rs::FUNCTION`")?;
    let text = fs::read_to_string(root().join(file)).map_err(|why| format!("{file}: {why}"))?;
    let head = format!("#[test]\nfn {name}() {{\n");
    let plain: Vec<&str> = text.lines().map(str::trim_start).collect();
    let plain = plain.join("\n");
    let (_, rest) = plain
        .split_once(&head)
        .ok_or_else(|| format!("{file} has no test {name}"))?;
    let end = rest.find("#[test]").unwrap_or(rest.len());
    Ok(rest[..end].to_owned())
}
