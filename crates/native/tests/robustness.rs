//! Whatever text comes: no panic, a place within the text, and what parses can be written.

use blocklab_native::{EXAMPLE, parse, render};
use proptest::prelude::*;

/// Parses, and checks what must hold for every text.
fn survive(text: &str) -> Result<(), TestCaseError> {
    let parsed = match parse(text, "study.toml") {
        Ok(parsed) => parsed,
        Err(error) => return placed(text, &error),
    };
    let written = render(&parsed.plan);
    let again = parse(&written, "written.toml");
    let again = again.map_err(|error| TestCaseError::fail(format!("{error}\n{written}")))?;
    prop_assert_eq!(again.plan, parsed.plan);
    Ok(())
}

fn placed(text: &str, error: &blocklab_native::Error) -> Result<(), TestCaseError> {
    let line = text.split('\n').nth(error.line() - 1);
    prop_assert!(line.is_some(), "line {} of\n{}", error.line(), text);
    let columns = line.unwrap_or_default().chars().count();
    prop_assert!(
        error.column() >= 1 && error.column() <= columns + 1,
        "{}",
        error
    );
    let shown = error.to_string();
    let place = format!("study.toml:{}:{}: ", error.line(), error.column());
    prop_assert!(shown.starts_with(&place), "{}", shown);
    prop_assert!(shown.contains('^'), "{}", shown);
    Ok(())
}

/// A change that a slip of the hand could make.
#[derive(Debug, Clone)]
enum Slip {
    Remove(usize),
    Insert(usize, char),
    DropLine(usize),
    RepeatLine(usize),
    SwapValues(usize, usize),
    Cut(usize),
}

fn slip() -> impl Strategy<Value = Slip> {
    let character = prop_oneof![
        proptest::char::range('0', 'z'),
        proptest::sample::select(vec![
            '"', '=', '[', ']', '{', '}', ',', '\n', '\t', '\r', '#', 'é'
        ]),
    ];
    prop_oneof![
        any::<usize>().prop_map(Slip::Remove),
        (any::<usize>(), character).prop_map(|(at, c)| Slip::Insert(at, c)),
        any::<usize>().prop_map(Slip::DropLine),
        any::<usize>().prop_map(Slip::RepeatLine),
        any::<(usize, usize)>().prop_map(|(a, b)| Slip::SwapValues(a, b)),
        any::<usize>().prop_map(Slip::Cut),
    ]
}

fn with_slip(text: &str, slip: &Slip) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let (length, count) = (characters.len() + 1, lines.len());
    match slip {
        Slip::Remove(at) if length > 1 => {
            characters.remove(at % (length - 1));
        }
        Slip::Remove(_) => {}
        Slip::Insert(at, c) => characters.insert(at % length, *c),
        Slip::Cut(at) => characters.truncate(at % length),
        Slip::DropLine(at) => {
            lines.remove(at % count);
            return lines.join("\n");
        }
        Slip::RepeatLine(at) => {
            lines.insert(at % count, lines[at % count].clone());
            return lines.join("\n");
        }
        Slip::SwapValues(a, b) => {
            swap_values(&mut lines, a % count, b % count);
            return lines.join("\n");
        }
    }
    characters.into_iter().collect()
}

/// The value of one line comes to stand behind the key of another.
fn swap_values(lines: &mut [String], a: usize, b: usize) {
    let key = lines[a].split_once('=').map(|(key, _)| key.to_owned());
    let value = lines[b].split_once('=').map(|(_, value)| value.to_owned());
    if let (Some(key), Some(value)) = (key, value) {
        lines[a] = format!("{key}={value}");
    }
}

/// The example, with its commented keys awake in a case of their own.
fn whole_example() -> String {
    let awake = |line: &str| match line.strip_prefix("#   ") {
        Some(key) if key.contains(" = ") => key.to_owned(),
        _ => line.to_owned(),
    };
    let (study, keys) = EXAMPLE
        .split_once("# Every key of a job")
        .expect("is there");
    let keys: Vec<String> = keys.lines().map(awake).collect();
    format!("{study}[[case]]\nname = \"all\"\n# {}\n", keys.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text(text in any::<String>()) {
        survive(&text)?;
    }

    #[test]
    fn any_text_of_toml_signs(text in "[a-z0-9_\\[\\]{}=\",.# \n-]{0,200}") {
        survive(&text)?;
    }

    #[test]
    fn the_example_with_slips(slips in proptest::collection::vec(slip(), 1..4)) {
        let text = slips.iter().fold(EXAMPLE.to_owned(), |text, slip| with_slip(&text, slip));
        survive(&text)?;
    }

    #[test]
    fn every_key_with_slips(slips in proptest::collection::vec(slip(), 1..4)) {
        let text = slips.iter().fold(whole_example(), |text, slip| with_slip(&text, slip));
        survive(&text)?;
    }

    #[test]
    fn one_key_with_any_value(
        key in proptest::sample::select(vec![
            "depth", "size", "runtime", "mix", "block_size", "zones", "cpus", "content", "targets",
            "rate_iops", "rate_bytes", "settings", "seed", "steady", "pattern", "spread", "think",
        ]),
        value in prop_oneof![
            any::<i64>().prop_map(|number| number.to_string()),
            any::<u64>().prop_map(|number| format!("\"{number}ns\"")),
            any::<f64>().prop_map(|number| format!("{number:?}")),
            any::<bool>().prop_map(|flag| flag.to_string()),
            "[0-9.]{1,12} ?[kKmMgGtTnuhd]?[iI]?[bBs]?(/s)?".prop_map(|text| format!("\"{text}\"")),
            "\\[\\[?[0-9\", .k-]{0,20}\\]?\\]",
            "\\{ (read|write|compress) = [0-9\"k]{1,4}, (dedupe|write|trim) = [0-9\"k]{1,4} \\}",
        ],
        swept in any::<bool>(),
    ) {
        survive(&if swept { format!("[[case]]\nname = \"a\"\n[matrix]\n{key} = [{value}, {value}]\n") } else { format!("[[case]]\nname = \"a\"\n{key} = {value}\n") })?;
    }
}
