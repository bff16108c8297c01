//! In: the data sheet of an address. Out: its document.

use blocklab_catalog::{Burst, Cost, Endurance, Figure, Price, Ratio, Reach, Sheet, Stretch};
use blocklab_device::Origin;
use blocklab_units::{Bytes, Nanos, count, rate, significant};
use blocklab_workload::Direction;

use crate::document::{Column, Document, Entry, Part, cited};
use crate::words::facts::{money, trimmed};

/// The sheet as a document: first what the device delivers, last the evidence for it.
pub fn sheet(sheet: &Sheet) -> Document {
    let mut sources = Vec::new();
    let limits = limits(&sheet.limits, &mut sources);
    let prices = prices(&sheet.prices, &mut sources);
    let numbered = sources.iter().zip(1..);
    let sources = numbered.map(|(source, number)| Entry::listed(&format!("[{number}]"), source));
    let mut parts = vec![Part::Heading(sheet.address.clone())];
    if let Some(endured) = &sheet.endurance {
        parts.extend([endurance(endured), buckets(endured), by_use(endured)]);
    }
    parts.extend([
        reaches(&sheet.reaches),
        bursts(&sheet.bursts),
        month(sheet),
        ratios(&sheet.ratios, sheet.currency),
        limits,
        prices,
        Part::section("Sources", vec![Part::Entries(sources.collect())]),
        Part::lines("Assumed", &sheet.assumed),
        Part::lines("Notes", &sheet.notes),
    ]);
    Document {
        name: sheet.address.clone(),
        parts,
    }
}

/// What loads of each direction and block size reach, and what bounds them.
fn reaches(reaches: &[Reach]) -> Part {
    let Some(first) = reaches.first() else {
        return Part::Entries(Vec::new());
    };
    let (reads, writes): (Vec<&Reach>, Vec<&Reach>) = reaches
        .iter()
        .partition(|reach| reach.direction == Direction::Read);
    let patterns = reaches.iter().any(|reach| reach.pattern != first.pattern);
    // Reads and writes share a row if they do not differ in anything.
    let same = reads
        .iter()
        .zip(&writes)
        .all(|(read, write)| read.phases == write.phases);
    let shown = if same {
        reads
    } else {
        reads.into_iter().chain(writes).collect()
    };
    let rows = shown.into_iter().map(|reach| {
        let direction = if same {
            "read, write"
        } else {
            reach.direction.name()
        };
        let name = if patterns {
            format!("{} {direction}", reach.pattern.name())
        } else {
            direction.to_owned()
        };
        reach_row(name, reach)
    });
    let how = if patterns { "" } else { "random, " };
    let title = format!("What it reaches ({how}{} in flight)", first.in_flight);
    let columns = [
        Column::words(""),
        Column::figure("BLOCK"),
        Column::figure("IOPS"),
        Column::figure("MiB/s"),
        Column::words("BOUND BY"),
        Column::words("THEN"),
    ];
    Part::table_section(title, columns, rows)
}

/// The first phase of a load has columns of its own; the later ones, after bursts are spent, share
/// the last column.
fn reach_row(name: String, reach: &Reach) -> [String; 6] {
    let block = Bytes(reach.block_bytes).to_string();
    let Some((first, later)) = reach.phases.split_first() else {
        return [&*name, &*block, "", "", "", ""].map(String::from);
    };
    let then: Vec<String> = later.iter().map(stretch_text).collect();
    [
        name,
        block,
        rate(first.iops),
        rate(first.mib_per_s),
        first.binding.clone(),
        then.join("; "),
    ]
}

/// What the device delivers of a load, phase by phase.
fn endurance(endured: &Endurance) -> Part {
    let rows = endured.phases.iter().map(|phase| {
        let from = match phase.begins_s {
            0.0 => "the start".to_owned(),
            seconds => Nanos::from_secs_f64(seconds).to_string(),
        };
        [
            from,
            rate(phase.iops),
            rate(phase.mib_per_s),
            phase.binding.clone(),
        ]
    });
    let columns = Column::named_and_words("FROM", ["IOPS", "MiB/s"], "BOUND BY");
    Part::table_section(load_title(endured), columns, rows)
}

/// `At 600 IOPS of 16 KiB, random, 30 % writes`.
fn load_title(endured: &Endurance) -> String {
    let pattern = if endured.is_sequential {
        "sequential"
    } else {
        "random"
    };
    let block = Bytes(endured.block_bytes);
    let iops = rate(endured.asked_iops);
    let mix = match endured.read_percent {
        100 => "reads".to_owned(),
        0 => "writes".to_owned(),
        reads => format!("{} % writes", 100 - reads),
    };
    format!("At {iops} IOPS of {block}, {pattern}, {mix}")
}

/// For each burst bucket: how long the load lasts, and which rate is sustained afterwards.
fn buckets(endured: &Endurance) -> Part {
    let rows = endured.buckets.iter().map(|bucket| {
        let lasts = match bucket.lasts_s {
            Some(0.0) => "is empty".to_owned(),
            Some(seconds) => Nanos::from_secs_f64(seconds).to_string(),
            None => "for ever".to_owned(),
        };
        [bucket.name.clone(), lasts, rate(bucket.sustains_iops)]
    });
    let columns = [
        Column::words(""),
        Column::words("LASTS"),
        Column::figure("THEN, IOPS"),
    ];
    Part::table_section("Burst credits at this load, each by itself", columns, rows)
}

/// What a month of the load costs in charges for use.
fn by_use(endured: &Endurance) -> Part {
    let rows = endured.by_use.iter().map(|cost| {
        let billed = format!("{} million", rate(cost.operations / 1e6));
        [
            cost.what.clone(),
            billed,
            money(cost.usd_per_month, cost.currency),
        ]
    });
    let columns = Column::named("", ["OPERATIONS", "A MONTH"]);
    Part::table_section(
        "Billed by use at this load, if it never ends",
        columns,
        rows,
    )
}

/// `after 33 min 20 s: 300 IOPS, 1.2 MiB/s (gp2: burst credits)`.
fn stretch_text(stretch: &Stretch) -> String {
    format!(
        "after {}: {} IOPS, {} MiB/s ({})",
        Nanos::from_secs_f64(stretch.begins_s),
        rate(stretch.iops),
        rate(stretch.mib_per_s),
        stretch.binding
    )
}

/// Each burst bucket: its rate, how long it lasts, and when it is full again.
fn bursts(bursts: &[Burst]) -> Part {
    let rows = bursts.iter().map(|burst| {
        let again = match burst.full_again_s {
            Some(seconds) => format!("within {}", Nanos::from_secs_f64(seconds)),
            None => format!("after {} at rest", Nanos::from_secs_f64(burst.refills_s)),
        };
        [
            burst.name.clone(),
            trimmed(burst.burst),
            burst.unit.to_owned(),
            Nanos::from_secs_f64(burst.lasts_s).to_string(),
            trimmed(burst.baseline),
            burst.unit.to_owned(),
            again,
        ]
    });
    let title = "Bursts, each at its full rate from a full bucket";
    let columns = [
        Column::words(""),
        Column::figure("BURST"),
        Column::words(""),
        Column::words("LASTS"),
        Column::figure("THEN"),
        Column::words(""),
        Column::words("FULL AGAIN"),
    ];
    Part::table_section(title, columns, rows)
}

/// The parts of the monthly price, and their sum.
fn month(sheet: &Sheet) -> Part {
    if sheet.costs.is_empty() {
        return Part::Entries(Vec::new());
    }
    let total = sheet.usd_per_month.map_or_else(
        || "not known: a part has no price".to_owned(),
        |total| money(total, sheet.currency),
    );
    let mut rows: Vec<[String; 4]> = sheet.costs.iter().map(cost).collect();
    let is_by_use = sheet.costs.iter().any(|cost| cost.usd_per_month.is_none());
    let name = if is_by_use {
        "total without use"
    } else {
        "total"
    };
    rows.push([name.to_owned(), String::new(), String::new(), total]);
    let columns = [
        Column::words(""),
        Column::figure(""),
        Column::words(""),
        Column::figure(""),
    ];
    Part::table_section("Monthly cost", columns, rows)
}

/// The cells of a row of costs: what is paid for, how much of it, the price of one, and what a month of
/// it costs. What is billed by use has no quantity and no sum.
fn cost(cost: &Cost) -> [String; 4] {
    let (price, currency) = (cost.usd_each, cost.currency);
    let each = format!("x {price} {currency} per {}", cost.per.text());
    let quantity = cost
        .usd_per_month
        .map_or(String::new(), |_| trimmed(cost.quantity));
    let sum = cost
        .usd_per_month
        .map_or_else(|| "by use".to_owned(), |sum| money(sum, currency));
    [cost.what.clone(), quantity, each, sum]
}

fn ratios(ratios: &[Ratio], currency: &str) -> Part {
    let rows = ratios.iter().map(|ratio| {
        let inputs = format!(
            "= {} for {} / {} {}",
            money(ratio.usd_per_month, currency),
            ratio.of,
            trimmed(ratio.delivered),
            ratio.unit
        );
        [ratio.name.clone(), significant(ratio.value, 4), inputs]
    });
    let columns = [Column::words(""), Column::figure(""), Column::words("")];
    Part::table_section("What a delivered unit costs", columns, rows)
}

/// Every limit with its evidence. `sources`: the list that the sheet ends with.
fn limits(limits: &[Figure], sources: &mut Vec<String>) -> Part {
    let rows = limits.iter().map(|limit| {
        let (date, source) = match &limit.origin {
            Origin::Documented { source, date } => (date.as_str(), cited(sources, source)),
            Origin::Measured { by: why } | Origin::Assumed { because: why } => {
                ("", cited(sources, why))
            }
            Origin::Given => ("", String::new()),
        };
        let (value, unit) = match limit.unit {
            "bytes" if limit.value >= 1e9 => (limit.value / 1e9, "GB"),
            unit => (limit.value, unit),
        };
        [
            limit.name.clone(),
            trimmed(value),
            unit.to_owned(),
            limit.origin.how().to_owned(),
            date.to_owned(),
            source,
        ]
    });
    let columns = [
        Column::words(""),
        Column::figure("LIMIT"),
        Column::words(""),
        Column::words("EVIDENCE"),
        Column::words("DATE"),
        Column::words(""),
    ];
    Part::table_section("Limits", columns, rows)
}

/// Every list price with its region and day.
fn prices(prices: &[Price], sources: &mut Vec<String>) -> Part {
    let rows = prices.iter().map(|price| {
        let above = match (price.above, price.up_to) {
            (0.0, None) => String::new(),
            (above, None) => format!(", above {}", count(above)),
            (above, Some(up_to)) => format!(", from {} to {}", count(above), count(up_to)),
        };
        [
            format!("{}{above}", price.what),
            format!("{} {}", price.usd, price.currency),
            price.per.text().to_owned(),
            price.region.clone(),
            price.date.to_string(),
            cited(sources, &price.source),
        ]
    });
    let columns = [
        Column::words(""),
        Column::figure("PRICE"),
        Column::words("PER"),
        Column::words("REGION"),
        Column::words("DATE"),
        Column::words(""),
    ];
    Part::table_section("Prices", columns, rows)
}
