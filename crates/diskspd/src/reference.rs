//! The usage text and the compatibility page, from the option table.

use super::options::{OPTIONS, Support};

/// What `-?` prints.
#[must_use]
pub fn usage() -> String {
    let mut text = String::from(
        "Usage: diskspd [options] target1 [target2 ...]\n\n\
         A target is a file, a directory (a scratch file is made there), a device, sim:ADDRESS,\n\
         emu:ADDRESS or null. Options come before targets.\n\n",
    );
    for option in OPTIONS {
        text.push_str(&format!("  {}\n        {}", option.form, option.meaning));
        if option.default != "–" {
            text.push_str(&format!(" [{}]", option.default));
        }
        let here = option.support.here();
        if !here.is_empty() {
            text.push_str(&format!("\n        Here: {here}."));
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
    for option in OPTIONS {
        let form = option.form.replace('|', "\\|");
        let (default, meaning) = (option.default, option.meaning);
        let here = match option.support {
            Support::Ours => "ours".to_owned(),
            Support::Documented => "as documented".to_owned(),
            Support::Ignored(here) => format!("ignored, with a note: {here}"),
            Support::Near(here) => format!("approximated: {here}"),
        };
        page.push_str(&format!("| `{form}` | {default} | {meaning} | {here} |\n"));
    }
    page
}
