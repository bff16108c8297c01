//! In: the prices of offers. Out: their document: a table, then every unit price with its inputs,
//! then every list price.

use blocklab_catalog::unit_price::{By, Currency, Priced, Unit, UnitPrice, old_lists};
use blocklab_workload::Date;

use crate::document::{Column, Document, Entry, Layout, MARGIN, Part, Row, cited, numbered};
use crate::words::facts::cents;
use blocklab_units::{Ink, plural, significant};

/// The columns of unit prices: title and unit.
const UNITS: [(&str, Unit); 5] = [
    ("a month per IOPS", Unit::Iops),
    ("a month per MB/s", Unit::MbPerS),
    ("a month per GB", Unit::Gb),
    ("per million I/Os", Unit::MillionIo),
    ("an hour per 1M IOPS", Unit::MillionIopsHour),
];

/// What each offer costs, in the order given: a warning for each old list, a table, every unit
/// price with its inputs, and every list price with region, day and source.
pub fn prices(priced: &[Priced], by: By, currency: Option<&Currency>, today: Date) -> Document {
    let money = Money {
        currency,
        own: "USD",
    };
    let mut sources = Vec::new();
    let mut parts = vec![
        Part::Prose(opening((priced.len() > 1).then_some(by), money)),
        Part::Entries(ages(priced, today)),
        table(priced, money),
    ];
    for (place, offer) in priced.iter().enumerate() {
        parts.push(Part::Entries(detail(place, offer, money, &mut sources)));
    }
    parts.push(numbered("Prices", &sources));
    Document {
        name: "What it costs".to_owned(),
        parts,
    }
}

/// How amounts are shown: in the requested currency, or in their own. Amounts that are not in US
/// dollars keep their currency, since the user gives only the exchange rate of the dollar.
#[derive(Clone, Copy)]
struct Money<'a> {
    currency: Option<&'a Currency>,
    own: &'a str,
}

impl<'a> Money<'a> {
    /// For amounts in the currency `own`.
    fn of_amounts_in(self, own: &'a str) -> Self {
        let wanted = self.currency.filter(|_| own == "USD");
        Self {
            currency: wanted,
            own,
        }
    }

    fn code(&self) -> &str {
        self.currency.map_or(self.own, |currency| &currency.code)
    }

    /// The amount without its currency: to the cent from 1 on, below that with four significant
    /// digits, but at most twelve decimals. `amount`: in US dollars, or in its own money if that is
    /// another.
    fn bare(&self, amount: f64) -> String {
        let value = amount * self.currency.map_or(1.0, |currency| currency.per_usd);
        // From 0.99995 on, four digits would round to 1.
        if value >= 0.999_95 || value == 0.0 {
            return cents(value);
        }
        let digits = (3.0 - value.max(1e-9).log10().floor()) as usize;
        format!("{value:.digits$}")
    }

    fn amount(&self, amount: f64) -> String {
        format!("{} {}", self.bare(amount), self.code())
    }
}

/// The order of several offers, and the rate of another currency.
fn opening(by: Option<By>, money: Money<'_>) -> String {
    let order = by.map(|by| match by {
        By::Iops => "Cheapest per IOPS first.".to_owned(),
        By::Throughput => "Cheapest per MB/s first.".to_owned(),
        By::Capacity => "Cheapest per GB first.".to_owned(),
    });
    let rate = money.currency.map(|currency| {
        format!(
            "Amounts are in {}: 1 USD = {} {}, as you gave it.",
            currency.code, currency.per_usd, currency.code
        )
    });
    let sentences: Vec<String> = order.into_iter().chain(rate).collect();
    sentences.join(" ")
}

/// A warning for each old price list.
fn ages(priced: &[Priced], today: Date) -> Vec<Entry> {
    let findings = old_lists(priced, today).into_iter().map(|list| {
        let text = format!(
            "the price list of {} is {} old ({}): amounts, and what is cheapest, may have changed \
             since",
            list.date,
            plural(list.years as usize, "year"),
            list.names.join(" and ")
        );
        Entry::item(Ink::Yellow, "!", text)
    });
    findings.collect()
}

/// The table of all offers, with the columns in which at least one of them has a figure; empty if
/// no offer has a price.
fn table(priced: &[Priced], money: Money<'_>) -> Part {
    let mut titles = vec![format!("{} a month", money.code()), "an hour".to_owned()];
    titles.extend(UNITS.map(|(title, _)| title.to_owned()));
    titles.push("region and list".to_owned());
    let rows = priced.iter().enumerate().map(|(place, offer)| {
        let own = money.of_amounts_in(offer.money);
        // The first title names one currency; an amount in another one names its own.
        let other = own.code() != money.code();
        let shown = |usd: Option<f64>| match usd {
            Some(usd) if other => own.amount(usd),
            Some(usd) => own.bare(usd),
            None => "–".to_owned(),
        };
        let mut cells = vec![shown(offer.usd_per_month), shown(offer.usd_per_hour)];
        cells.extend(UNITS.map(|(_, unit)| shown(offer.per(unit))));
        cells.push(place_and_day(offer));
        (format!("{}  {}", place + 1, offer.name), cells)
    });
    let rows: Vec<(String, Vec<String>)> = rows.collect();
    let known: Vec<usize> = (0..titles.len())
        .filter(|column| rows.iter().any(|(_, cells)| cells[*column] != "–"))
        .collect();
    // A single column is that of region and list, which are no figures.
    if known.len() < 2 {
        return Part::Entries(Vec::new());
    }
    let columns = Column::named("", known.iter().map(|column| &titles[*column]));
    let rows = rows.iter().map(|(name, cells)| {
        let cells = known.iter().map(|column| &cells[*column]);
        Row::named(name, cells)
    });
    let layout = Layout::Blocks {
        margin: MARGIN,
        title: 8,
    };
    Part::whole_table(layout, columns, rows)
}

/// The terminal columns in which the name of an offer and the lines below it begin.
const NAME_COLUMN: usize = 3;
const LINE_COLUMN: usize = 5;

/// One offer: its name, when its prices were valid, each cost (`-`), each unit price (`=`), and the
/// remarks (`*`).
fn detail(
    place: usize,
    priced: &Priced,
    money: Money<'_>,
    sources: &mut Vec<String>,
) -> Vec<Entry> {
    let name = format!("{}{}", priced.name, bought(priced));
    let mut entries = vec![Entry::new(
        Ink::Bold,
        &(place + 1).to_string(),
        NAME_COLUMN,
        name,
    )];
    let mut line =
        |head: &str, text: &str| entries.push(Entry::new(Ink::Dim, head, LINE_COLUMN, text));
    line("", &regions_and_days(priced));
    for cost in &priced.costs {
        // The list price behind a cost is cited by its number; the document ends with all of them.
        let mut prices = priced.prices.iter();
        // Two regions have prices of one name.
        let price = prices.find(|price| {
            price.what == cost.what && (price.usd, price.currency) == (cost.usd_each, cost.currency)
        });
        let source = price.map_or_else(String::new, |price| {
            let source = format!("{}, {}: {}", price.region, price.date, price.source);
            format!(" {}", cited(sources, &source))
        });
        // The costs of one offer may be in different currencies.
        let own = money.of_amounts_in(cost.currency);
        let sum = cost
            .usd_per_month
            .map_or_else(|| "by use".to_owned(), |usd| own.amount(usd));
        let text = format!(
            "{}: {} x {} {} per {} = {sum}{source}",
            cost.what,
            significant(cost.quantity, 6),
            cost.usd_each,
            cost.currency,
            cost.per.text()
        );
        line("   -", &text);
    }
    for unit in &priced.units {
        line("   =", &quotient(unit, money.of_amounts_in(priced.money)));
    }
    for text in priced.assumed.iter().chain(&priced.notes) {
        line("   *", text);
    }
    entries
}

/// The addresses that a run was bought as; empty if its name is its address.
fn bought(priced: &Priced) -> String {
    match priced.addresses.as_slice() {
        [one] if *one == priced.name => String::new(),
        all => format!(", bought as {}", all.join(" and ")),
    }
}

/// `us-east-1, 2021-07-01 to 2026-07-06`.
fn place_and_day(priced: &Priced) -> String {
    let days = match priced.dates.as_slice() {
        [] => return "–".to_owned(),
        [only] => only.to_string(),
        [first, .., last] => format!("{first} to {last}"),
    };
    format!("{}, {days}", priced.regions.join(" and "))
}

/// The regions and days of all prices, without which no amount is shown; or that no price is known.
fn regions_and_days(priced: &Priced) -> String {
    let dates: Vec<String> = priced.dates.iter().map(ToString::to_string).collect();
    if dates.is_empty() {
        "no price is known".to_owned()
    } else {
        format!(
            "prices of {}, lists of {}",
            priced.regions.join(" and "),
            dates.join(" and ")
        )
    }
}

/// `0.0512 USD per IOPS and month = 307.16 USD a month / 6,000 IOPS (documented …)`.
fn quotient(price: &UnitPrice, money: Money<'_>) -> String {
    let by_use = if price.by_use_usd > 0.0 {
        format!(" + {} by use", money.amount(price.by_use_usd))
    } else {
        String::new()
    };
    format!(
        "{} per {} = {} {} / {} {}{by_use} ({})",
        money.amount(price.usd),
        price.unit.text(),
        money.amount(price.paid_usd),
        price.paid_for.with_article(),
        significant(price.delivered, 4),
        price.delivered_unit,
        price.delivered_by
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: prices of five years ago stood there as if of today, where no second list was newer.
    #[test]
    fn an_old_list_is_a_finding_and_a_new_one_is_none() {
        let date = |text: &str| text.parse().expect("a day");
        let of = |name: &str, dates: &[&str]| Priced {
            name: name.to_owned(),
            dates: dates.iter().map(|text| date(text)).collect(),
            ..Priced::default()
        };
        let found = |of: Priced| -> Vec<String> {
            let entries = ages(&[of], date("2026-07-20")).into_iter();
            entries.map(|entry| entry.text).collect()
        };
        assert!(found(of("gp3", &["2025-08-01", "2026-07-06"])).is_empty());
        // The story: who asked for the prices of 2021 was told that they are 5 years old.
        let past = Priced {
            addresses: vec!["gp3:1TiB,as-of=2021-08-01".to_owned()],
            ..of("gp3", &["2021-07-01"])
        };
        assert!(found(past).is_empty());
        // The day of one volume stood for the others, too, so that nothing was said of their old prices.
        let both = Priced {
            addresses: vec![
                "gp3:1TiB,as-of=2021-08-01".to_owned(),
                "gp3:1TiB".to_owned(),
            ],
            ..of("both", &["2021-07-01"])
        };
        assert!(found(both)[0].contains("5 years old (both)"));
        assert_eq!(
            found(of("gp3", &["2021-07-01", "2026-07-06"])),
            [
                "the price list of 2021-07-01 is 5 years old (gp3): amounts, and what is cheapest, \
                 may have changed since"
            ]
        );
    }

    #[test]
    fn amounts_have_the_figures_that_they_deserve() {
        let euro = Currency {
            code: "EUR".to_owned(),
            per_usd: 0.5,
        };
        let (usd, eur) = (
            Money {
                currency: None,
                own: "USD",
            },
            Money {
                currency: Some(&euro),
                own: "USD",
            },
        );
        for (amount, expected) in [
            (1234.567, "1,234.57"),
            (1.0, "1.00"),
            (0.051_234, "0.05123"),
            (0.000_512_34, "0.0005123"),
            // The story: nothing was "0.000000000000 USD", and 0.99996 USD were "1.0000".
            (0.0, "0.00"),
            (0.999_96, "1.00"),
            (0.999_94, "0.9999"),
        ] {
            assert_eq!(usd.bare(amount), expected);
        }
        assert_eq!(eur.amount(10.0), "5.00 EUR");
    }
}
