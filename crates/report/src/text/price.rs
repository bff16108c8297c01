use blocklab_analysis::price::{By, Currency, Priced, Unit, UnitPrice};

use super::grid::{self, Cells};
use blocklab_units::{Ink, Style, count, significant};

/// A column: its title and the unit that it shows.
const UNITS: [(&str, Unit); 5] = [
    ("a month per IOPS", Unit::Iops),
    ("a month per MB/s", Unit::MbPerS),
    ("a month per GB", Unit::Gb),
    ("per million I/Os", Unit::MillionIo),
    ("an hour per 1M IOPS", Unit::MillionIopsHour),
];

/// What each costs, in the order given: a table, then every quotient with its inputs, then every
/// price with region, day and source. Ends with a newline.
#[must_use]
pub fn prices(priced: &[Priced], by: By, currency: Option<&Currency>, style: Style) -> String {
    let money = Money { currency };
    let mut sources = Vec::new();
    let details: Vec<String> = priced
        .iter()
        .enumerate()
        .map(|(place, it)| detail(place, it, money, &mut sources, style))
        .collect();
    let mut parts = vec![opening(by, money, style), table(priced, money, style)];
    parts.extend(details);
    parts.push(listed(&sources, style));
    super::joined(parts)
}

/// Amounts in the wanted currency.
#[derive(Clone, Copy)]
struct Money<'a> {
    currency: Option<&'a Currency>,
}

impl Money<'_> {
    fn code(&self) -> &str {
        self.currency.map_or("USD", |currency| &currency.code)
    }

    /// Cents from 1 on; below, four figures.
    fn bare(&self, usd: f64) -> String {
        let value = usd * self.currency.map_or(1.0, |currency| currency.per_usd);
        if value >= 1.0 {
            let cents = (value * 100.0).round();
            return format!("{}.{:02}", count((cents / 100.0).trunc()), cents % 100.0);
        }
        let digits = (3.0 - value.max(1e-9).log10().floor()) as usize;
        format!("{value:.digits$}")
    }

    fn of(&self, usd: f64) -> String {
        format!("{} {}", self.bare(usd), self.code())
    }
}

fn opening(by: By, money: Money<'_>, style: Style) -> String {
    let unit = match by {
        By::Iops => "IOPS",
        By::Throughput => "MB/s",
        By::Capacity => "GB",
    };
    let rate = money.currency.map_or_else(String::new, |it| {
        format!(
            " Amounts are in {}: 1 USD = {} {}, as you gave it.",
            it.code, it.per_usd, it.code
        )
    });
    let text = format!("Cheapest per {unit} first.{rate}");
    style.hang(Ink::Bold, "", 0, &text)
}

fn table(priced: &[Priced], money: Money<'_>, style: Style) -> String {
    let mut titles = vec![format!("{} a month", money.code()), "an hour".to_owned()];
    titles.extend(UNITS.map(|(title, _)| title.to_owned()));
    titles.push("region and list".to_owned());
    let shown = |usd: Option<f64>| usd.map_or_else(|| "–".to_owned(), |usd| money.bare(usd));
    let rows = priced.iter().enumerate().map(|(place, it)| {
        let mut cells = vec![shown(it.usd_per_month), shown(it.usd_per_hour)];
        cells.extend(UNITS.map(|(_, unit)| shown(it.per(unit))));
        cells.push(place_and_day(it));
        (format!("{}  {}", place + 1, it.name), cells)
    });
    let cells = Cells {
        titles,
        rows: rows.collect(),
    };
    grid::blocks(&cells, 2, 8, style)
}

fn detail(
    place: usize,
    priced: &Priced,
    money: Money<'_>,
    sources: &mut Vec<String>,
    style: Style,
) -> String {
    let mut out = style.hang(
        Ink::Bold,
        &format!("{}", place + 1),
        3,
        &format!("{}{}", priced.name, bought(priced)),
    );
    let mut line = |head: &str, text: &str| out.push_str(&style.hang(Ink::Dim, head, 5, text));
    line("", &when(priced));
    for cost in &priced.costs {
        let price = priced.prices.iter().find(|it| it.what == cost.what);
        let source = price.map_or_else(String::new, |it| {
            let source = format!("{}, {}: {}", it.region, it.date, it.source);
            format!(" [{}]", number(sources, source))
        });
        let sum = cost
            .usd_per_month
            .map_or_else(|| "by use".to_owned(), |usd| money.of(usd));
        let text = format!(
            "{}: {} x {} USD per {} = {sum}{source}",
            cost.what,
            significant(cost.quantity, 6),
            cost.usd_each,
            cost.per.text()
        );
        line("   -", &text);
    }
    for unit in &priced.units {
        line("   =", &quotient(unit, money));
    }
    for text in priced.assumed.iter().chain(&priced.notes) {
        line("   *", text);
    }
    out
}

/// What a run was bought as; nothing where the name is the address.
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

/// Money is never told without them.
fn when(priced: &Priced) -> String {
    let dates: Vec<String> = priced.dates.iter().map(ToString::to_string).collect();
    match dates.is_empty() {
        true => "no price is known".to_owned(),
        false => format!(
            "prices of {}, lists of {}",
            priced.regions.join(" and "),
            dates.join(" and ")
        ),
    }
}

/// `0.0512 USD per IOPS and month = 307.16 USD a month / 6,000 IOPS (documented …)`.
fn quotient(of: &UnitPrice, money: Money<'_>) -> String {
    let by_use = match of.by_use_usd > 0.0 {
        true => format!(" + {} by use", money.of(of.by_use_usd)),
        false => String::new(),
    };
    format!(
        "{} per {} = {} {} {} / {} {}{by_use} ({})",
        money.of(of.usd),
        of.unit.text(),
        money.of(of.paid_usd),
        if of.paid_for == "hour" { "an" } else { "a" },
        of.paid_for,
        significant(of.delivered, 6),
        of.delivered_unit,
        of.delivered_by
    )
}

fn number(sources: &mut Vec<String>, source: String) -> usize {
    let place = sources.iter().position(|known| *known == source);
    place.unwrap_or_else(|| {
        sources.push(source);
        sources.len() - 1
    }) + 1
}

fn listed(sources: &[String], style: Style) -> String {
    let lines = sources.iter().enumerate();
    let lines: String = lines
        .map(|(at, text)| style.hang(Ink::Dim, &format!("  [{}]", at + 1), 6, text))
        .collect();
    match lines.is_empty() {
        true => lines,
        false => format!("{}\n{lines}", style.paint(Ink::Bold, "Prices")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_figures_that_they_deserve() {
        let euro = Currency {
            code: "EUR".to_owned(),
            per_usd: 0.5,
        };
        let (usd, eur) = (
            Money { currency: None },
            Money {
                currency: Some(&euro),
            },
        );
        for (amount, expected) in [
            (1234.567, "1,234.57"),
            (1.0, "1.00"),
            (0.051_234, "0.05123"),
            (0.000_512_34, "0.0005123"),
            (0.0, "0.000000000000"),
        ] {
            assert_eq!(usd.bare(amount), expected);
        }
        assert_eq!(eur.of(10.0), "5.00 EUR");
    }
}
