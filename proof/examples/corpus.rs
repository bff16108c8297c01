//! Prints `docs/diagnosis.md`: precision and recall of the diagnosis, rule by rule.

use blocklab_proof::corpus::{judge, page, scenarios};

fn main() {
    print!("{}", page(&judge(&scenarios())));
}
