//! The usage text, and the compatibility page from the keyword table.

use super::keywords::{KEYWORDS, Section};

/// What can be typed.
#[must_use]
pub const fn usage() -> &'static str {
    include_str!("usage.txt")
}

/// `docs/dialects/vdbench.md`.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(include_str!("reference.md"));
    page.push_str(&format!("\n## Command line\n\n```\n{}```\n", usage()));
    for section in Section::ALL {
        page.push_str(&format!(
            "\n## {}\n\n| keyword | meaning | here | difference |\n|---|---|---|---|\n",
            section.name()
        ));
        for row in KEYWORDS.iter().filter(|row| row.section == section) {
            page.push_str(&format!(
                "| `{}` | {} | {} | {} |\n",
                row.name,
                row.meaning,
                row.support.name(),
                row.support.difference()
            ));
        }
    }
    page
}
