//! In: an advice. Out: its Document: the answer, which limits bind it, what it would be under other
//! terms, what was refused although cheaper, and what more capacity or speed would cost.

use blocklab_advice::{
    Advice, Bound, Change, Choice, Chosen, Figure, Finalist, Impossible, Migration, More, Move,
    Nearest, Point, Premise, Reason, Refused, Seller, Simulated, Start, Verdict, Wanted,
};
use blocklab_units::{Bytes, Nanos, count, latency, plural, trimmed};

use crate::document::{Column, Document, Part, Row};
use crate::words::facts::{self, cents};

/// The answer in one sentence.
pub fn advice_verdict(advice: &Advice) -> String {
    let mut need = advice.question.need.to_string();
    if advice.question.at_least {
        need = format!("at least {need}");
    }
    let Some(best) = best(advice) else {
        return match advice.unpriced.len() {
            0 => format!("Nothing that is sold there carries {need}."),
            some => format!(
                "Nothing that has a price carries {need}; not ranked: no price of {}.",
                plural(some, "configuration")
            ),
        };
    };
    let price = money(best.candidate.per_month, best.candidate.currency);
    let mut verdict = format!(
        "{} is the cheapest that carries {need}: {price} a month",
        best.candidate.address()
    );
    if best.candidate.is_lost_at_stop {
        verdict += ", and what it holds is lost when the machine stops";
    }
    match best.rests_on.as_slice() {
        [] => verdict + ".",
        [first, others @ ..] => format!("{verdict}. {}", resting_on(first, others.len())),
    }
}

/// `It rests on an assumed figure (gp3: volume IOPS: assumed: …), and on 2 figures more.`
fn resting_on(first: &Premise, others: usize) -> String {
    let how = if first.is_deduced {
        "a deduced"
    } else {
        "an assumed"
    };
    let more = match others {
        0 => String::new(),
        some => format!(", and on {} more", plural(some, "figure")),
    };
    format!("It rests on {how} figure ({}){more}.", first.text)
}

/// The configuration that is advised: the cheapest that carries the need.
fn best(advice: &Advice) -> Option<&Finalist> {
    advice.chosen.first()?.finalist.as_ref()
}

/// The document of an advice.
pub fn advice(advice: &Advice) -> Document {
    let mut parts = vec![Part::Heading(advice_verdict(advice))];
    parts.push(Part::Prose(advice.question.remarks.join(" ")));
    parts.push(choices(advice));
    parts.extend(advice.impossible.as_ref().map(impossible));
    parts.extend(advice.migration.as_ref().map(migration));
    parts.push(neighbours(advice));
    parts.push(refused(advice));
    parts.push(cost_of_more(advice));
    parts.push(front(advice));
    let lacking = advice
        .lacking
        .iter()
        .map(|(kind, lack)| format!("{kind}: {lack}"));
    parts.push(Part::list("Nothing of these types does", lacking));
    parts.push(unpriced(advice));
    parts.push(Part::list("Assumed", assumed(advice)));
    parts.push(sources(advice));
    parts.push(Part::list("Notes", notes(advice)));
    Document {
        name: format!("Advice for {}", advice.question.need),
        parts,
    }
}

/// An amount with its currency: `123.40 USD`.
pub fn money(amount: Option<f64>, currency: &str) -> String {
    amount.map_or_else(
        || "no price known".to_owned(),
        |amount| facts::money(amount, currency),
    )
}

/// The terms of a choice, as a row of the first table names them.
const fn terms(choice: Choice) -> &'static str {
    match choice {
        Choice::Cheapest => "cheapest that carries it",
        Choice::WithoutStriping => "without striping",
        Choice::Striped => "striped over up to 8",
        Choice::WithoutBurst => "without burst credits",
        Choice::OnOwnMachine => "on the machine you have",
    }
}

/// A row for each choice, with what it rests on below.
fn choices(advice: &Advice) -> Part {
    let rows = advice.chosen.iter().map(|chosen| choice(chosen, advice));
    let columns = Column::named_and_words("", ["A MONTH"], "ADDRESS");
    Part::table(columns, rows)
}

/// The row of a choice. Below it: what binds, how long it lasts, what a simulation showed, whether the
/// loss of one volume is the loss of all, and how its price differs from that of the cheapest.
fn choice(chosen: &Chosen, advice: &Advice) -> Row {
    let terms = terms(chosen.choice);
    let Some(finalist) = &chosen.finalist else {
        return Row {
            below: chosen.why_not.clone().unwrap_or_default(),
            ..Row::from([terms, "-", "nothing does"])
        };
    };
    let candidate = &finalist.candidate;
    let mut below = vec![binding(finalist)];
    below.extend(lasts(finalist));
    below.extend(simulated(&chosen.simulated));
    // Local disks are lost together with the machine in any case.
    let is_striped = candidate.volumes > 1 && !candidate.is_lost_at_stop;
    if is_striped {
        below.push(format!(
            "The loss of one of {} volumes is the loss of all.",
            candidate.volumes
        ));
    }
    if chosen.choice != Choice::Cheapest
        && let Some(best) = advice.chosen.first()
        && best.finalist.is_some()
    {
        let difference = chosen.price() - best.price();
        // Striping costs less if the question excluded it: the cheapest is sought as the question asks.
        let than = if difference < 0.0 { "less" } else { "more" };
        let difference = money(Some(difference.abs()), candidate.currency);
        below.push(format!("{difference} a month {than} than the cheapest."));
    }
    Row {
        below: below.join(" "),
        ..Row::from([
            terms.to_owned(),
            money(candidate.per_month, candidate.currency),
            candidate.address(),
        ])
    }
}

/// The two tightest limits: `Binds: gp3: volume IOPS, 6,000 of 6,000. Next: …`
fn binding(finalist: &Finalist) -> String {
    let mut bounds = finalist.tightest().map(bound);
    let first = bounds.next().map(|first| format!("Binds: {first}."));
    let next = bounds.next().map(|next| format!("Next: {next}."));
    let both: Vec<String> = first.into_iter().chain(next).collect();
    both.join(" ")
}

/// How long the need is carried by the closed form, which reaches further than a simulation.
fn lasts(finalist: &Finalist) -> Option<String> {
    let courses = finalist.courses.iter();
    // A course without an end lasts for ever.
    let shortest = courses.min_by(|a, b| {
        let [a, b] = [a, b].map(|course| course.lasts_s.unwrap_or(f64::INFINITY));
        a.total_cmp(&b)
    })?;
    let from = match finalist.courses.first()?.start {
        Start::Empty => ", from empty and from full buckets",
        Start::Full if finalist.has_credits() => ", from full buckets",
        Start::Full => "",
    };
    Some(match shortest.lasts_s {
        None => format!("Computed: carried for ever{from}."),
        Some(seconds) => format!(
            "Computed: carried for {}{from}; then {} % of it.",
            Nanos::from_secs_f64(seconds),
            trimmed(shortest.share_at_last * 100.0, 1)
        ),
    })
}

/// A limit with what is needed and what it allows: `gp3: volume IOPS, 6,000 of 16,000`.
fn bound(bound: &Bound) -> String {
    let needs = quantity(bound.part, bound.needs);
    let allows = match bound.allows {
        Some(value) => quantity(bound.part, value),
        None => "?".to_owned(),
    };
    if bound.part == Wanted::P99 {
        format!("p99, {allows} of {needs} at best")
    } else {
        format!("{}, {needs} of {allows}", bound.limit)
    }
}

/// A value of one part of a need, in its unit. Rounded down, so that a limit never looks higher
/// than it is.
fn quantity(part: Wanted, value: f64) -> String {
    match part {
        Wanted::Capacity => format!("{} GiB", rounded_down(value / Bytes::GIB.as_f64())),
        Wanted::Iops => format!("{} IOPS", rounded_down(value)),
        Wanted::Throughput => format!("{} MB/s", trimmed(value / 1e6, 1)),
        Wanted::P99 => Nanos(value as u64).to_string(),
    }
}

/// A quantity that is promised, so never rounded up. Ten per cent more of a small one shows: 12.1 GiB are
/// sold as 13.
fn rounded_down(value: f64) -> String {
    if value < 100.0 {
        // 1.1 GiB is no whole number of bytes, and a fraction of one below it.
        trimmed((value * 10.0 + 1e-6).floor() / 10.0, 1)
    } else {
        count(value.floor())
    }
}

/// The outcome of each simulation.
fn simulated(simulated: &[Simulated]) -> Vec<String> {
    let each = simulated.iter().map(|one| {
        let start = match one.start {
            Start::Full => "buckets full",
            Start::Empty => "buckets empty",
        };
        let p99 = one.p99_ns.map(|p99| format!("p99 {}", latency(p99)));
        let time = match one.simulated_ns {
            0 => plural(one.operations as usize, "operation"),
            time => Nanos(time).to_string(),
        };
        match one.verdict {
            Verdict::Carries => {
                let p99 = p99.map_or_else(String::new, |p99| format!(", {p99}"));
                format!("Simulated with {start}, {time}: carried{p99}.")
            }
            Verdict::Fails => format!(
                "Simulated with {start}: not carried: {}.",
                one.why.join("; ")
            ),
            Verdict::NotSimulated => format!("Not simulated: {}.", one.why.join("; ")),
        }
    });
    each.collect()
}

/// The configurations that are next in price.
fn neighbours(advice: &Advice) -> Part {
    let rows = advice.neighbours.iter().map(|(finalist, simulations)| Row {
        below: simulated(simulations).join(" "),
        ..Row::from([
            finalist.candidate.address(),
            money(finalist.candidate.per_month, finalist.candidate.currency),
        ])
    });
    let columns = Column::named("ADDRESS", ["A MONTH"]);
    Part::table_section("Next in price", columns, rows)
}

/// Configurations that are cheaper and were refused, by reason.
fn refused(advice: &Advice) -> Part {
    let rows = advice.refused.iter().map(|one: &Refused| {
        let (reason, what) = reason(&one.reason);
        let counted = plural(one.count, what);
        Row::from([
            reason,
            counted,
            one.address.clone(),
            money(one.per_month, one.currency),
        ])
    });
    let columns = [
        Column::words("REASON"),
        Column::figure("HOW MANY"),
        Column::words("SUCH AS"),
        Column::figure("A MONTH"),
    ];
    Part::table_section("Refused although cheaper", columns, rows)
}

/// A reason in words, and the noun for what was refused by it.
fn reason(reason: &Reason) -> (String, &'static str) {
    match reason {
        Reason::Machine { limit } => (format!("{limit} of the machine"), "machine"),
        Reason::Attachments => ("volumes that the machine takes".to_owned(), "machine"),
        Reason::Undocumented => (
            "no document gives the limits of the machine".to_owned(),
            "machine",
        ),
        Reason::Burst => ("burst credits that run out".to_owned(), "configuration"),
        Reason::LostAtStop => ("lost when the machine stops".to_owned(), "machine"),
        Reason::PreviousGeneration => ("previous generation".to_owned(), "configuration"),
        Reason::Simulation { why } => (format!("its simulation: {why}"), "configuration"),
    }
}

/// What a tenth more of each part of the need would cost.
fn cost_of_more(advice: &Advice) -> Part {
    let currency = currency(advice);
    let rows = advice.more.iter().map(|more: &More| {
        let costs = match more.added_per_month {
            // Less than half a cent would show as 0.00.
            Some(added) if added < 0.005 => "nothing".to_owned(),
            Some(added) => facts::money(added, currency),
            None => "nothing does".to_owned(),
        };
        Row::from([
            more.part.name().to_owned(),
            quantity(more.part, more.needs),
            costs,
            more.address.clone().unwrap_or_default(),
        ])
    });
    let columns = Column::named_and_words("", ["THEN", "MORE A MONTH"], "ADDRESS");
    Part::table_section("Ten per cent more of", columns, rows)
}

/// The configurations of which none is both cheaper and quicker than another.
fn front(advice: &Advice) -> Part {
    // A front of one point shows no trade-off.
    if advice.front.len() < 2 {
        return Part::Entries(Vec::new());
    }
    let rows = advice.front.iter().map(|point: &Point| {
        Row::from([
            latency(point.p99_ns as f64),
            money(Some(point.per_month), point.currency),
            if point.is_enough { "yes" } else { "no" }.to_owned(),
            point.address.clone(),
        ])
    });
    let columns = [
        // Of an operation that waits for nothing: the simulation of an address shows a longer one.
        Column::figure("P99 AT BEST"),
        Column::figure("A MONTH"),
        Column::words("ENOUGH"),
        Column::words("ADDRESS"),
    ];
    Part::table_section("Price against latency", columns, rows)
}

/// For a need that nothing carries: how far each part must give way.
fn impossible(impossible: &Impossible) -> Part {
    let alone = match impossible.alone.as_slice() {
        [] => "No part of it alone is too much: together they are.".to_owned(),
        parts => {
            let names: Vec<&str> = parts.iter().map(|part| part.name()).collect();
            let each = if names.len() > 1 { " each" } else { "" };
            format!("Too much{each} by itself: {}.", names.join(", "))
        }
    };
    let rows = impossible.nearest.iter().map(|nearest: &Nearest| {
        Row::from([
            nearest.part.name().to_owned(),
            quantity(nearest.part, nearest.needs),
            quantity(nearest.part, nearest.possible),
            money(nearest.per_month, nearest.currency),
            nearest.address.clone(),
        ])
    });
    let titles = ["ASKED FOR", "POSSIBLE", "A MONTH"];
    let columns = Column::named_and_words("IF THIS GIVES WAY", titles, "ADDRESS");
    let parts = vec![Part::Prose(alone), Part::indented_table(columns, rows)];
    // Where several parts are too much, none of them alone can give way enough.
    let title = if impossible.nearest.is_empty() {
        "What is too much"
    } else {
        "The nearest that is possible"
    };
    Part::section(title, parts)
}

/// What would replace a volume in use, with what gets worse and better.
fn migration(migration: &Migration) -> Part {
    let title = format!(
        "Instead of {} at {} a month",
        migration.address,
        money(migration.per_month, migration.currency)
    );
    let rows = migration.moves.iter().map(|one: &Move| {
        let saved = migration.per_month.zip(one.per_month).map(|(a, b)| a - b);
        Row {
            below: format!(
                "{} {}",
                changed("worse", &one.worse),
                changed("better", &one.better)
            ),
            ..Row::from([
                one.address.clone(),
                money(one.per_month, migration.currency),
                saved.map_or_else(String::new, cents),
            ])
        }
    });
    let columns = Column::named("ADDRESS", ["A MONTH", "SAVES"]);
    Part::table_section(title, columns, rows)
}

/// What gets worse, or better: `Gets worse: p99 1.00 ms to 1.20 ms.`
fn changed(name: &str, changes: &[Change]) -> String {
    if changes.is_empty() {
        return format!("Nothing gets {name}.");
    }
    let each: Vec<String> = changes.iter().map(change).collect();
    format!("Gets {name}: {}.", each.join("; "))
}

/// `IOPS for ever 3,000 to 6,000`.
fn change(change: &Change) -> String {
    let (from, to) = (change.from, change.to);
    let name = match change.what {
        Figure::SteadyIops => "IOPS for ever",
        Figure::BurstIops => "IOPS in bursts",
        Figure::SteadyThroughput => "MB/s for ever",
        Figure::BurstThroughput => "MB/s in bursts",
        Figure::P99 => return format!("p99 {} to {}", latency(from), latency(to)),
    };
    format!("{name} {} to {}", count(from.floor()), count(to.floor()))
}

/// Configurations that could not be ranked, by the first of their names.
fn unpriced(advice: &Advice) -> Part {
    let names = &advice.unpriced;
    if names.is_empty() {
        return Part::Entries(Vec::new());
    }
    let shown: Vec<&str> = names.iter().map(String::as_str).take(6).collect();
    let more = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "Not ranked: no price ({}): {}{more}",
        names.len(),
        shown.join(", ")
    );
    Part::list("Without a price", [text])
}

/// The assumptions that the chosen configurations rest on, each once.
fn assumed(advice: &Advice) -> Vec<String> {
    let finalists = advice.chosen.iter().filter_map(|one| one.finalist.as_ref());
    let mut found: Vec<String> = Vec::new();
    for resolved in finalists.map(|one| &one.resolved) {
        let all = resolved
            .assumptions
            .iter()
            .chain(&resolved.cost_assumptions);
        for sentence in all {
            if !found.contains(sentence) {
                found.push(sentence.clone());
            }
        }
    }
    found
}

/// The source and date of each limit and price of the answer.
fn sources(advice: &Advice) -> Part {
    let Some(best) = best(advice) else {
        return Part::Entries(Vec::new());
    };
    let limits = best.bounds.iter().filter_map(|bound| {
        let origin = bound.origin.as_ref()?;
        Some(format!("{}: {origin}", bound.limit))
    });
    let prices = best.paid().map(|price| {
        format!(
            "{}: {} {} per {}, {}, {}: {}",
            price.what,
            price.usd,
            price.currency,
            price.per.text(),
            price.region,
            price.date,
            price.source
        )
    });
    let mut sentences: Vec<String> = Vec::new();
    for sentence in limits.chain(prices) {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    Part::list("Where the figures of the answer come from", sentences)
}

/// `aws in us-east-1`; the vendor alone, if the catalog has prices of none of its regions.
fn seller(seller: &Seller) -> String {
    match seller.region.as_str() {
        "" => seller.vendor.clone(),
        region => format!("{} in {region}", seller.vendor),
    }
}

/// What holds for all prices of an advice.
fn notes(advice: &Advice) -> Vec<String> {
    let question = &advice.question;
    let sellers = question.sellers.iter();
    let sellers: Vec<String> = sellers.map(seller).collect();
    let mut notes = vec![format!(
        "Prices are those of {}, on demand, Linux; a month has 730 hours; what is billed by use is not in them.",
        sellers.join(", ")
    )];
    if question.machine.is_none() {
        notes.push(
            "Volumes alone: --instance, or --vcpu and --memory, adds the machine and what it grants."
                .to_owned(),
        );
    }
    if question.discount > 0.0 {
        notes.push(format!(
            "Machines are {} % below their list price (--instance-discount).",
            trimmed(question.discount * 100.0, 1)
        ));
    }
    notes.push(
        "Memory of a larger machine may hold what is read often: that is not modelled.".to_owned(),
    );
    notes
}

fn currency(advice: &Advice) -> &'static str {
    best(advice).map_or("USD", |best| best.candidate.currency)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: "The nearest that is possible" had nothing below it but "Too much by itself: capacity,
    /// iops, p99".
    #[test]
    fn parts_that_are_too_much_have_no_nearest() {
        let text = |alone: &[Wanted]| {
            let part = impossible(&Impossible {
                alone: alone.to_vec(),
                nearest: Vec::new(),
            });
            format!("{part:?}")
        };
        let both = text(&[Wanted::Iops, Wanted::P99]);
        assert!(
            both.contains("What is too much")
                && both.contains("Too much each by itself: iops, p99."),
            "{both}"
        );
        assert!(text(&[Wanted::Iops]).contains("Too much by itself: iops."));
    }

    /// The story: "Prices are those of alicloud in , on demand".
    #[test]
    fn a_vendor_without_prices_is_in_no_region() {
        let shown = |region: &str| {
            seller(&Seller {
                vendor: "alicloud".to_owned(),
                region: region.to_owned(),
                is_named: false,
            })
        };
        assert_eq!(shown(""), "alicloud");
        assert_eq!(shown("eu-central-1"), "alicloud in eu-central-1");
    }

    /// The story: ten per cent more of 1 GiB was "1 GiB", for 0.08 USD more a month.
    #[test]
    fn ten_per_cent_more_of_little_is_more() {
        let gib = (1.1 * Bytes::GIB.as_f64()).floor();
        assert_eq!(quantity(Wanted::Capacity, gib), "1.1 GiB");
        assert_eq!(quantity(Wanted::Iops, 1.1), "1.1 IOPS");
        assert_eq!(quantity(Wanted::Iops, 5_500.9), "5,500 IOPS");
    }

    /// The story: a figure was called deduced if its text had that word, so an assumption about a
    /// deduced limit was called deduced itself.
    #[test]
    fn a_figure_is_deduced_by_what_it_is_and_not_by_its_text() {
        let words = "P1: burst: assumed: no page has it, and nothing deduced does".to_owned();
        let assumed = Premise {
            text: words.clone(),
            is_deduced: false,
        };
        let text = resting_on(&assumed, 0);
        assert_eq!(text, format!("It rests on an assumed figure ({words})."));
        let deduced = Premise {
            text: "price of x: half of y".to_owned(),
            is_deduced: true,
        };
        assert_eq!(
            resting_on(&deduced, 1),
            "It rests on a deduced figure (price of x: half of y), and on 1 figure more."
        );
    }
}
