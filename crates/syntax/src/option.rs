//! A row of an option table: how an option is written, how its value is read, how well it is
//! honoured. The languages of other tools have one table each; their help and their reference page
//! are derived from it.

use std::iter;

/// How well an option is honoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// As the original does: a case compares the two (`proof/data/exact`).
    Exact,
    /// As the original's manual describes; no case compares the two.
    Documented,
    /// As the original does, except in what [`Opt::here`] names.
    Mostly,
    /// Approximated: where the difference matters, a Note states it.
    Nearly,
    /// No effect, and harmless: a Note states it.
    Ignored,
    /// A text that requests it is not run.
    Refused,
    /// The original does not have it.
    Ours,
}

/// One option. `V` holds how its value is read: by its kind, or by the function that sets it.
#[derive(Debug, Clone, Copy)]
pub struct Opt<V: 'static> {
    /// The heading under which it stands.
    pub chapter: &'static str,
    /// As the original's manual writes it.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// How its value is read.
    pub value: V,
    /// What holds without it.
    pub default: &'static str,
    /// What it requests, in one sentence.
    pub meaning: &'static str,
    /// How well it is honoured.
    pub support: Support,
    /// How it differs from the original, what is not compared, or what would work in its place.
    pub here: &'static str,
}

impl<V> Opt<V> {
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// How well it is honoured, in words.
    pub fn honoured(&self) -> String {
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
    /// for it, the meaning, and how well it is honoured.
    pub fn line(&self, written: &str, default: Option<&str>) -> String {
        let (meaning, honoured) = (self.meaning, self.honoured());
        let cells = iter::once(written)
            .chain(default)
            .chain([meaning, &honoured]);
        let cells = cells.map(|cell| format!("| {} ", cell.replace('|', "\\|")));
        cells.collect::<String>() + "|\n"
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
