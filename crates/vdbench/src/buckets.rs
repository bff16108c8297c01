//! `histogram=`: the buckets in which response times are counted.

use super::known::Known;
use super::mistake::Mistake;

/// Buckets of response times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    /// Upper edges in microseconds, ascending; one more bucket has no upper edge.
    pub edges: Vec<u64>,
    /// Empty rows at the beginning and at the end are left out.
    pub suppress: bool,
}

/// The original counts in no more, the last one included.
const MOST: usize = 64;
/// Longer than any operation lasts, in microseconds: eleven days.
const LONGEST: u64 = 1_000_000_000_000;

impl Default for Buckets {
    /// 20 µs to 2 s, five to each power of ten.
    fn default() -> Self {
        let decades = (1..=5).map(|power| 10_u64.pow(power));
        let edges = decades.flat_map(|decade| [2, 4, 6, 8, 10].map(|step| step * decade));
        Self {
            edges: edges.chain([2_000_000]).collect(),
            suppress: false,
        }
    }
}

/// `(default,20,40,1m,1s)`: the name of the list, then upper edges. A number without a unit is in
/// microseconds. One that is not above the edge before it is a step: edges at this distance follow
/// up to the next number.
pub(super) fn buckets(known: &Known<'_>) -> Result<Buckets, Mistake> {
    let words = known.words();
    let Some(("default", rest)) = words.split_first().map(|(name, rest)| (&**name, rest)) else {
        return Err(known.wrong(
            "the first word names the list and must be `default`, as in \
             histogram=(default,50u,100u,1m,1s)",
        ));
    };
    let is_option = |word: &&String| !word.is_empty() && "suppress".starts_with(word.as_str());
    let suppress = rest.iter().any(|word| is_option(&word));
    let numbers: Vec<&String> = rest.iter().filter(|word| !is_option(word)).collect();
    if numbers.is_empty() && suppress {
        return Ok(Buckets {
            suppress,
            ..Buckets::default()
        });
    }
    let edges = edges(&numbers).map_err(|message| known.wrong(message))?;
    Ok(Buckets { edges, suppress })
}

fn edges(words: &[&String]) -> Result<Vec<u64>, String> {
    let mut edges: Vec<u64> = Vec::new();
    let mut step = None;
    for word in words {
        let number = micros(word)?;
        match edges.last().copied() {
            Some(last) if number <= last => step = Some(number),
            Some(last) => {
                if let Some(step) = step.take() {
                    let between = (last..number).step_by(step as usize).skip(1);
                    edges.extend(between.take(MOST));
                }
                edges.push(number);
            }
            None => edges.push(number),
        }
        if edges.len() >= MOST {
            return Err(format!("these are more than {MOST} buckets"));
        }
    }
    match (edges.is_empty(), step) {
        (true, _) => Err("the upper edges of the buckets must follow the name".to_owned()),
        (_, Some(step)) => Err(format!(
            "{step} us is not above the edge before it, so it is a step, and the edge up to which \
             it goes must follow"
        )),
        _ => Ok(edges),
    }
}

/// Without a unit in microseconds, else `u`, `m` (ms) or `s`.
fn micros(word: &str) -> Result<u64, String> {
    let (digits, unit) = match word.chars().next_back() {
        Some('u') => (&word[..word.len() - 1], 1),
        Some('m') => (&word[..word.len() - 1], 1_000),
        Some('s') => (&word[..word.len() - 1], 1_000_000),
        _ => (word, 1),
    };
    let number = digits.parse::<u64>().ok();
    let micros = number.and_then(|number| number.checked_mul(unit));
    match micros {
        Some(micros @ 1..=LONGEST) => Ok(micros),
        Some(0) => Err("a bucket cannot end at 0".to_owned()),
        _ => Err(format!(
            "`{word}` is no time; 50 or 50u (microseconds), 1m (milliseconds) and 2s would work"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Buckets, edges};

    #[track_caller]
    fn check(words: &str, expected: Result<&[u64], &str>) {
        let words: Vec<String> = words.split(',').map(str::to_owned).collect();
        let words: Vec<&String> = words.iter().collect();
        match (edges(&words), expected) {
            (Ok(edges), Ok(expected)) => assert_eq!(edges, expected, "{words:?}"),
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (edges, _) => panic!("{words:?}: {edges:?}"),
        }
    }

    #[test]
    fn edges_are_microseconds_and_steps_are_written_out() {
        check("20,40u,1m,2s", Ok(&[20, 40, 1000, 2_000_000]));
        check("10,10,40,1m", Ok(&[10, 20, 30, 40, 1000]));
        check("1m,500,2m", Ok(&[1000, 1500, 2000]));
        check("20,soon", Err("`soon` is no time"));
        check("0,20", Err("cannot end at 0"));
        check("20,10", Err("is a step"));
        check("1,1,1000", Err("more than 64 buckets"));
        check("99999999999999999999s", Err("is no time"));
    }

    /// The list of Vdbench's guide.
    #[test]
    fn the_default_goes_from_20_us_to_2_s() {
        let list = "20,40,60,80,100,200,400,600,800,1m,2m,4m,6m,8m,10m,20m,40m,60m,80m,100m,200m,\
                    400m,600m,800m,1s,2s";
        check(list, Ok(&Buckets::default().edges));
    }
}
