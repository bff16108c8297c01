//! Options of blocklab on the command line of another tool: `--name`, `--name=value` or
//! `--name value`.

/// Takes out the options that `take` accepts, and returns the other arguments for the tool. `take` gets
/// the name of an option and a function that gives its value: the text after `=`, or else the next
/// argument, which is used up only if the function is called.
pub fn split<E>(
    arguments: &[String],
    mut take: impl FnMut(&str, &mut dyn FnMut() -> Option<String>) -> Result<bool, E>,
) -> Result<Vec<String>, E> {
    let mut rest = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let is_own = match argument.strip_prefix("--") {
            Some(option) => {
                let (name, given) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (option, None),
                };
                take(name, &mut || {
                    given
                        .map(str::to_owned)
                        .or_else(|| arguments.next().cloned())
                })?
            }
            None => false,
        };
        if !is_own {
            rest.push(argument.clone());
        }
    }
    Ok(rest)
}
