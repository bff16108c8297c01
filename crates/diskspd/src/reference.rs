//! The usage text and the compatibility page, from the option table.

use super::options::OPTIONS;

/// What `-?` prints.
pub fn usage() -> String {
    let mut text = String::from(
        "Usage: diskspd [options] target1 [target2 ...]\n\n\
         A target is a file, a directory (a scratch file is made there), a device, sim:ADDRESS,\n\
         emu:ADDRESS or null. Options come before targets.\n\n",
    );
    for option in OPTIONS {
        text.push_str(&format!(
            "  {}\n        {}",
            option.value.form, option.meaning
        ));
        if option.default != "–" {
            text.push_str(&format!(" [{}]", option.default));
        }
        if !option.here.is_empty() {
            text.push_str(&format!("\n        Here: {}.", option.here));
        }
        text.push('\n');
    }
    text.push_str(
        "\nExamples:\n  \
         blocklab diskspd -c16M -d1 -W0 -b8K -o8 -t2 -r -w30 -L test.dat\n  \
         blocklab diskspd -d1 -W0 -b64K -o4 -w50 -L test.dat > result.txt\n  \
         blocklab diskspd -d1 -W0 -r -Rxml sim:gp3:1TiB\n",
    );
    text
}

/// `docs/dialects/diskspd.md`.
pub fn reference() -> String {
    let mut page = String::from(include_str!("reference.md"));
    page.push_str("\n| option | default | meaning | here |\n|---|---|---|---|\n");
    for option in OPTIONS {
        let form = format!("`{}`", option.value.form);
        page.push_str(&option.line(&form, Some(option.default)));
    }
    page
}
