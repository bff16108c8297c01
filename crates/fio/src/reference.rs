//! `docs/dialects/fio.md`, from the option table.

use super::options::{Kind, Opt, Since, options};

/// The page.
pub fn reference() -> String {
    let mut page = String::from(include_str!("reference.md"));
    let mut chapter = "";
    for option in options() {
        if option.chapter != chapter {
            chapter = option.chapter;
            page.push_str(&format!(
                "\n## {chapter}\n\n| option | default | meaning | here |\n|---|---|---|---|\n"
            ));
        }
        let names: Vec<String> = option.names().map(|name| format!("`{name}`")).collect();
        let later = match option.value.since {
            Since::Spoken => "",
            Since::Later => " (later fio)",
        };
        let written = names.join(", ") + later;
        page.push_str(&option.line(&written, Some(&default(option))));
    }
    page
}

fn default(option: &Opt) -> String {
    match (option.default, option.value.kind) {
        ("-", Kind::Flag) => "0".to_owned(),
        ("-", _) => "–".to_owned(),
        (default, _) => format!("`{default}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Support, find};

    /// The part of the page before the tables.
    fn differing() -> &'static str {
        let page = include_str!("reference.md");
        let (_, told) = page.split_once("## What differs").expect("the heading");
        told
    }

    /// The story: the page called `cmdprio_bssplit`, `bssplit`, `verify_only` and others exact, and
    /// told in its first section in what each of them differs. Users who had searched for their
    /// option read the table alone.
    #[test]
    fn no_option_is_exact_that_the_page_itself_says_differs() {
        let quoted = differing().split('`').skip(1).step_by(2);
        let end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let names = quoted.filter_map(|text| text.trim_start_matches('-').split(end).next());
        let options: Vec<&Opt> = names.filter_map(find).collect();
        assert!(options.len() > 10, "the section names options: {options:?}");
        for option in options {
            assert_ne!(option.support, Support::Exact, "{}", option.name);
        }
    }

    /// A level that says "exact" says nothing else: "exact, but …" is a contradiction.
    #[test]
    fn exact_stands_alone_in_its_cell() {
        let page = reference();
        let cells = page.lines().filter(|line| line.starts_with("| `"));
        let levels: Vec<&str> = cells
            .filter_map(|line| line.trim_end_matches(" |").rsplit(" | ").next())
            .collect();
        assert_eq!(levels.len(), options().len());
        for level in levels {
            assert!(!level.contains("exact") || level == "exact", "{level}");
        }
    }
}
