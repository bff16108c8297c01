//! The usage text and the compatibility page, from the option table.

use blocklab_record::NoteLevel;

use super::options::{self, Opt};

/// What `-?` prints.
#[must_use]
pub fn usage() -> String {
    let mut text = String::from(
        "Usage: diskspd [options] target1 [target2 ...]\n\n\
         A target is a file, a directory (a scratch file is made there), a device, sim:ADDRESS,\n\
         emu:ADDRESS or null. Options come before targets.\n\n",
    );
    for option in options::all() {
        text.push_str(&format!("  {}\n        {}", option.form, option.meaning));
        if option.default != "–" {
            text.push_str(&format!(" [{}]", option.default));
        }
        if !option.here.is_empty() {
            text.push_str(&format!("\n        Here: {}.", option.here));
        }
        text.push('\n');
    }
    text
}

/// `docs/dialects/diskspd.md`.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(include_str!("reference.md"));
    page.push_str("\n| option | default | meaning | here |\n|---|---|---|---|\n");
    for option in options::all() {
        page.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            option.form.replace('|', "\\|"),
            option.default,
            option.meaning,
            support(option)
        ));
    }
    page
}

fn support(option: &Opt) -> String {
    match option.level {
        None if option.name.starts_with("--") => "ours".to_owned(),
        None => "as documented".to_owned(),
        Some(NoteLevel::Ignored) => format!("ignored, with a note: {}", option.here),
        Some(_) => format!("approximated: {}", option.here),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_that_differs_says_what_is_done() {
        for option in options::all() {
            assert_eq!(
                option.level.is_none(),
                option.here.is_empty(),
                "{}",
                option.name
            );
            assert!(option.meaning.ends_with('.'), "{}", option.name);
        }
    }
}
