//! In: a word that is not known, and the known ones. Out: the known one that was probably meant,
//! for the "did you mean" of error messages.

/// The candidate with the fewest typing errors against `word`: at most one error in three letters of
/// it, and one in a word of one or two letters. Capitals, and hyphens for underscores, are no errors.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word = normalized(word);
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(&word, &normalized(candidate)), candidate))
        .filter(|(errors, _)| *errors <= allowed)
        .min_by_key(|(errors, _)| *errors)
        .map(|(_, candidate)| candidate)
}

fn normalized(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

/// `did you mean gp3?`, or `otherwise` where no candidate is near enough.
pub fn did_you_mean<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(word, candidates).map_or_else(otherwise, |guess| format!("did you mean {guess}?"))
}

/// Letters left out, added, replaced, or swapped with their neighbour (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let known = ["depth", "block_size", "random", "random-once", "zipf"];
        assert_eq!(nearest(word, known), expected, "{word}");
    }

    #[test]
    fn a_mistyped_word_is_found_and_another_one_is_not() {
        check("dept", Some("depth"));
        check("detph", Some("depth"));
        check("Depth", Some("depth"));
        check("blocksize", Some("block_size"));
        check("block-size", Some("block_size"));
        check("radnom", Some("random"));
        check("random_once", Some("random-once"));
        check("zip", Some("zipf"));
        // Two errors in six letters are a third; three in eight are more.
        check("rondam", Some("random"));
        check("bluk_syze", Some("block_size"));
        check("rndm", None);
        check("blcksz", None);
        check("threads", None);
        check("", None);
    }

    /// The story: each capital of the right name counted as an error. `<BlokSize>` of a DiskSpd profile
    /// got no hint, and `Standard_D4s_v9` of Azure got another family's machine.
    #[test]
    fn capitals_of_a_candidate_are_no_errors() {
        let known = ["BlockSize", "Standard_B4s_v2", "Standard_D4s_v5"];
        assert_eq!(nearest("BlokSize", known), Some("BlockSize"));
        assert_eq!(nearest("Standard_D4s_v9", known), Some("Standard_D4s_v5"));
    }
}
