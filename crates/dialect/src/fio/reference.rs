//! `docs/dialects/fio.md`, from the option table.

use super::options::{Kind, Opt, Support, options};

/// The page.
#[must_use]
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
        page.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            names(option),
            default(option),
            option.meaning.replace('|', "\\|"),
            support(option)
        ));
    }
    page
}

fn names(option: &Opt) -> String {
    let all = std::iter::once(option.name).chain(option.aliases.iter().copied());
    all.map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn default(option: &Opt) -> String {
    match (option.default, option.kind) {
        ("-", Kind::Flag) => "0".to_owned(),
        ("-", _) => "–".to_owned(),
        (default, _) => format!("`{default}`"),
    }
}

fn support(option: &Opt) -> String {
    match option.support {
        Support::Exact => "exact".to_owned(),
        Support::Mostly => format!("differs: {}", option.here),
        Support::Nearly => format!("approximated: {}", option.here),
        Support::Ignored => format!("ignored, with a note: {}", option.here),
        Support::Refused => format!("refused: {}", option.here),
    }
}
