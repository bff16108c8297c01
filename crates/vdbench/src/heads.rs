//! The beginnings of report files, in the layout of Vdbench 5.04.07.

use super::run::Run;

/// A label, then links from column 34 on. Eight names stand in a line.
#[must_use]
pub fn links(label: &str, links: &[(&str, &str)]) -> String {
    let link = |(file, name): &(&str, &str)| {
        let link = format!("<A HREF=\"{file}.html\">{name}</A>");
        match links.len() {
            1 => link,
            _ => link + &" ".repeat(8_usize.saturating_sub(name.len())),
        }
    };
    let lines: Vec<String> = links
        .chunks(8)
        .map(|names| names.iter().map(link).collect::<Vec<_>>().join(" "))
        .collect();
    let between = format!("\n{:<33}", "");
    format!("{label:<33}{}\n", lines.join(&between))
}

/// Links to where each run begins, one a line. Of a run that differs from the one before in its
/// last word alone, only that word is a link, below its fellow.
#[must_use]
pub fn run_links(runs: &[&Run]) -> String {
    let mut text = String::new();
    let mut before: Vec<String> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let label = format!("{} {}", run.name, run.loops.text());
        let words: Vec<String> = label.split(' ').map(str::to_owned).collect();
        let stem = &words[..words.len() - 1];
        let same = words.len() == before.len() && before.starts_with(stem);
        let shown = match same {
            true => words[words.len() - 1].clone(),
            false => label.clone(),
        };
        let title = if index == 0 {
            "Link to Run Definitions:"
        } else {
            ""
        };
        let indent = " ".repeat(label.len() - shown.len());
        text.push_str(&format!(
            "{title:<33}{indent}<A HREF=\"#_{index}\">{shown}</A>\n"
        ));
        before = words;
    }
    text
}

/// Where a run begins.
#[must_use]
pub fn anchor(index: usize, clock: &str, banner: &str) -> String {
    format!("\n<a name=\"_{index}\"></a><i><b>{clock} {banner}</b></i>\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_begin_in_column_34() {
        assert_eq!(
            links("Link to logfile:", &[("logfile", "logfile")]),
            "Link to logfile:                 <A HREF=\"logfile.html\">logfile</A>\n"
        );
        assert_eq!(
            links("Link to SD reports:", &[("sd1", "sd1"), ("sd2", "sd2")]),
            "Link to SD reports:              <A HREF=\"sd1.html\">sd1</A>      \
             <A HREF=\"sd2.html\">sd2</A>     \n"
        );
    }
}
