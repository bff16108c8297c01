//! Options of blocklab on the command line of another tool: `--name`, `--name=value` or
//! `--name value`.

use std::fmt;

/// A value was given to an option that takes none.
#[derive(Debug)]
pub struct UnwantedValue {
    /// The option, without hyphens.
    pub name: String,
    value: String,
}

impl UnwantedValue {
    /// The message without the name.
    pub fn reason(&self) -> String {
        format!("it takes no value; leave out `={}`", self.value)
    }
}

impl fmt::Display for UnwantedValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "--{}: {}", self.name, self.reason())
    }
}

impl std::error::Error for UnwantedValue {}

/// Takes out the options that `take` accepts, and returns the other arguments for the tool. `take` gets
/// the name of an option and a function that gives its value: the text after `=`, or else the next
/// argument, which is used up only if the function is called. Another option is no value.
///
/// # Errors
/// Those of `take`; [`UnwantedValue`] if it accepts an option with `=` and does not call the function.
pub fn split<E: From<UnwantedValue>>(
    arguments: &[String],
    mut take: impl FnMut(&str, &mut dyn FnMut() -> Option<String>) -> Result<bool, E>,
) -> Result<Vec<String>, E> {
    let mut rest = Vec::new();
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        let Some(option) = argument.strip_prefix("--") else {
            rest.push(argument.clone());
            continue;
        };
        let (name, mut given) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let is_own = take(name, &mut || match given.take() {
            Some(value) => Some(value.to_owned()),
            None => arguments.next_if(|next| !next.starts_with('-')).cloned(),
        })?;
        if !is_own {
            rest.push(argument.clone());
        } else if let Some(value) = given {
            let (name, value) = (name.to_owned(), value.to_owned());
            return Err(UnwantedValue { name, value }.into());
        }
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: `--no-save=false` did what `--no-save` does, and the run that was to be kept was not.
    #[test]
    fn a_value_of_an_option_without_one_is_refused() {
        let split = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            split(&words, |name, value| -> anyhow::Result<bool> {
                match name {
                    "flag" => {}
                    "seed" => assert_eq!(value().as_deref(), Some("5")),
                    _ => return Ok(false),
                }
                Ok(true)
            })
        };
        let rest = split(&["--flag", "-b", "--seed=5", "--seed", "5", "--theirs=x"]);
        assert_eq!(rest.expect("no mistake"), ["-b", "--theirs=x"]);
        for word in ["--flag=false", "--flag="] {
            let why = split(&[word]).expect_err(word).to_string();
            assert!(why.contains("--flag: it takes no value"), "{why}");
        }
    }

    /// The story: `--destroy-data --name=a` took `--name=a` for the name of a device, and the command
    /// reported that no job was defined.
    #[test]
    fn another_option_is_no_value() {
        let words = ["--device", "--name=a"].map(str::to_owned);
        let mut device = Some(String::new());
        let rest = split(&words, |name, value| -> anyhow::Result<bool> {
            let is_own = name == "device";
            if is_own {
                device = value();
            }
            Ok(is_own)
        });
        assert_eq!(rest.expect("no mistake"), ["--name=a"]);
        assert_eq!(device, None);
    }
}
