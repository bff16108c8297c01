//! In: a row of an option table: how an option is written, how its value is read, how well it is
//! supported. Out: its row in the reference page. The languages of other tools have one table each,
//! from which their help and their reference page are derived.

use std::iter;

/// How well an option is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// As the original does: a case compares the two (`proof/data/exact`).
    Exact,
    /// As the original's manual describes; no case compares the two.
    Documented,
    /// As the original does, except for what [`Opt::here`] names.
    Mostly,
    /// Approximated: where the difference matters, a Note states it.
    Nearly,
    /// Without effect and harmless: a Note states it.
    Ignored,
    /// A text with this option is refused.
    Refused,
    /// The original does not have it.
    Ours,
}

/// One option. `V` holds how its value is read: by its kind, or by the function that sets it.
#[derive(Debug, Clone, Copy)]
pub struct Opt<V: 'static> {
    /// Its heading in the reference page.
    pub chapter: &'static str,
    /// Its name in the original's manual.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// How its value is read.
    pub value: V,
    /// The value without it.
    pub default: &'static str,
    /// What it requests, in one sentence.
    pub meaning: &'static str,
    /// How well it is supported.
    pub support: Support,
    /// How it differs from the original, what is not compared, or what to use instead.
    pub here: &'static str,
}

impl<V> Opt<V> {
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// How well it is supported, in words.
    pub fn support_text(&self) -> String {
        let word = match self.support {
            Support::Exact => "exact",
            Support::Documented => "as documented",
            Support::Mostly => "differs",
            Support::Nearly => "approximated",
            Support::Ignored => "ignored, with a note",
            Support::Refused => "refused",
            Support::Ours => "ours",
        };
        match self.here {
            "" => word.to_owned(),
            here => format!("{word}: {here}"),
        }
    }

    /// Its row in a reference page: the option as `written`, the `default` if the page has a column
    /// for it, the meaning, and how well it is supported.
    pub fn line(&self, written: &str, default: Option<&str>) -> String {
        let support = self.support_text();
        let mut line: String = iter::once(written)
            .chain(default)
            .chain([self.meaning, &support])
            .map(|cell| format!("| {} ", cell.replace('|', "\\|")))
            .collect();
        line.push_str("|\n");
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_a_page_has_a_cell_for_each_fact() {
        let option = Opt {
            chapter: "Run",
            name: "rd",
            aliases: &["run"],
            value: (),
            default: "-",
            meaning: "One | two.",
            support: Support::Nearly,
            here: "one",
        };
        let line = "| `rd` | – | One \\| two. | approximated: one |\n";
        assert_eq!(option.line("`rd`", Some("–")), line);
        let exact = Opt {
            support: Support::Exact,
            here: "",
            ..option
        };
        assert_eq!(
            exact.line("`rd`", None),
            "| `rd` | One \\| two. | exact |\n"
        );
        assert_eq!(option.names().collect::<Vec<_>>(), ["rd", "run"]);
    }
}
