use blocklab_analysis::price::{By, Currency, Priced};
use serde::Serialize;

/// Shape of what [`prices`] writes. A change of meaning needs a new number.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct View<'a> {
    price_format: u32,
    by: By,
    /// All amounts are in US dollars; this is the rate that the user gave.
    currency: Option<&'a Currency>,
    /// Cheapest first.
    priced: &'a [Priced],
}

/// One JSON object, indented, with a newline at the end. Amounts are in US dollars.
///
/// # Panics
/// Never: every field is representable in JSON.
#[must_use]
pub fn prices(priced: &[Priced], by: By, currency: Option<&Currency>) -> String {
    let view = View {
        price_format: FORMAT,
        by,
        currency,
        priced,
    };
    let mut text = serde_json::to_string_pretty(&view).expect("views hold no exotic keys");
    text.push('\n');
    text
}
