//! The usage text, and the compatibility page from the keyword table.

use super::keywords::{KEYWORDS, Section, Support};

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
            "\n## {}\n\n| keyword | meaning | here |\n|---|---|---|\n",
            section.name()
        ));
        for row in KEYWORDS.iter().filter(|row| row.section == section) {
            let here = match row.support {
                Support::Ignored => "ignored, with a note",
                support => support.name(),
            };
            page.push_str(&format!("| `{}` | {} | {here} |\n", row.name, row.meaning));
        }
    }
    page
}
