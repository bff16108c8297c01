//! In: a device model fitted to a disk, and its errors against the disk. Out: their document.

use blocklab_calibrate::{Calibration, Compared, Errors, Quality, Residual, Residuals};
use blocklab_units::{Bytes, Ink, latency, plural, rate, signed, significant, width};

use crate::document::{
    Column, Document, Entry, Fit, Group, Layout, MARGIN, Part, Row, Table, lines,
};

/// The fitted figures with their evidence, every measured load next to what the model gives for it,
/// how far the model can be trusted, and what the records do not show.
pub fn calibration(fitted: &Calibration, residuals: &Residuals) -> Document {
    let left_out = fitted.left_out.iter();
    let left_out =
        left_out.map(|one| format!("{}: {} of the measurements", one.reason, one.measurements));
    Document {
        name: format!("Fit of {}", fitted.device.name),
        parts: vec![
            head(fitted),
            Part::Entries(constants(fitted)),
            cells(residuals),
            Part::Entries(errors(residuals)),
            Part::list("Not known", fitted.unknown.iter().cloned()),
            Part::list("Left out", left_out),
        ],
    }
}

fn head(fitted: &Calibration) -> Part {
    let loads = plural(fitted.cells, "load");
    let loads = Entry::new(Ink::Dim, "", MARGIN, loads);
    Part::section(&fitted.device.name, vec![Part::Entries(vec![loads])])
}

/// Every figure of the device: its name, its value and its evidence.
fn constants(fitted: &Calibration) -> Vec<Entry> {
    // Each origin begins with the same runs; the evidence is what follows.
    let runs = fitted.measured_by();
    let short = |text: &str| text.replacen(&format!("measured: {runs}: "), "", 1);
    let mut rows: Vec<[String; 3]> = Vec::new();
    for limit in fitted.device.limits() {
        rows.push([
            limit.name.kind.to_string(),
            value(limit.value, limit.unit.text()),
            short(&limit.origin.to_string()),
        ]);
    }
    for service in fitted
        .device
        .volumes
        .iter()
        .filter_map(|volume| volume.service.as_ref())
    {
        let spread = &service.spread;
        let from = short(&spread.origin.to_string());
        rows.push([
            "scatter".to_owned(),
            format!("sigma {}", spread.sigma),
            from.clone(),
        ]);
        if let Some(tail) = &spread.tail {
            let text = format!(
                "{} % at {} x",
                significant(tail.share * 100.0, 4),
                significant(tail.factor, 4)
            );
            rows.push(["slow operations".to_owned(), text, from]);
        }
    }
    // Names and values are aligned in columns, in as much room as they need; the evidence after them
    // wraps.
    let heads = rows
        .iter()
        .map(|[what, value, _]| [what.clone(), value.clone()]);
    let heads = lines(
        &heads.collect::<Vec<_>>(),
        |column| column == 1,
        usize::MAX,
        2,
    );
    let entries = heads.into_iter().zip(&rows).map(|(head, [_, _, from])| {
        let head = format!("  {head}  ");
        Entry::new(Ink::Bold, &head, width(&head), from)
    });
    entries.collect()
}

fn value(value: f64, unit: &str) -> String {
    format!("{} {unit}", significant(value, 4))
}

const TITLES: [&str; 9] = [
    "IOPS", "model", "off", "mean", "model", "off", "p99", "model", "off",
];

/// All loads, grouped by pattern and direction, in one table so that their columns align.
fn cells(residuals: &Residuals) -> Part {
    let has_mark = residuals.cells.iter().any(|cell| cell.cpu_bound);
    let mut table = Table {
        columns: Column::named("", TITLES),
        rows: Vec::new(),
        layout: Layout::Fitted { margin: MARGIN + 2 },
    };
    if has_mark {
        table.columns.push(Column::words(""));
    }
    let mut group = String::new();
    for cell in &residuals.cells {
        let mut figures = figures_of(cell);
        if has_mark {
            let mark = if cell.cpu_bound { "our CPU" } else { "" };
            figures.push(mark.to_owned());
        }
        // A group begins with the first load of another pattern or direction.
        let title = heading(cell);
        let begins = (title != group).then(|| Group::titled(&*title));
        group = title;
        table.rows.push(Row {
            group: begins,
            ..Row::from(figures)
        });
    }
    Part::Table(table)
}

/// The heading of a group: `random read`.
fn heading(cell: &Residual) -> String {
    let way = match cell.read_percent {
        100 => "read".to_owned(),
        0 => "write".to_owned(),
        percent => format!("{percent} % read"),
    };
    format!("{} {way}", cell.pattern)
}

fn name(cell: &Residual) -> String {
    format!("{} q{}", Bytes(cell.block_bytes), cell.depth)
}

/// The name of a load, and a cell for each of [`TITLES`].
fn figures_of(cell: &Residual) -> Vec<String> {
    let p99 = match cell.p99_ns {
        Some(compared) => compared_cells(compared, latency),
        None => ["–".to_owned(), "–".to_owned(), String::new()],
    };
    let all = [
        compared_cells(cell.iops, rate),
        compared_cells(cell.mean_ns, latency),
        p99,
    ];
    [&[name(cell)], &all.concat()[..]].concat()
}

fn compared_cells(compared: Compared, show: fn(f64) -> String) -> [String; 3] {
    [
        show(compared.measured),
        show(compared.simulated),
        off(compared.error_percent),
    ]
}

/// An error with its sign; large ones need no decimal: `-3.2 %`, `+250 %`.
fn off(percent: f64) -> String {
    let decimals = if percent.abs() < 99.5 { 1 } else { 0 };
    format!("{} %", signed(percent, decimals))
}

/// The terminal columns in which the meaning of the quality and the errors of a figure begin.
const MEANING: usize = 11;
const ERRORS: usize = 8;

/// The quality of the fit, its errors figure by figure, and how much the disk itself scatters.
fn errors(residuals: &Residuals) -> Vec<Entry> {
    let (ink, word, meaning) = match residuals.quality {
        Quality::Good => (
            Ink::Green,
            "good",
            "IOPS of half of the loads are within 5 %, of nine in ten within 15 %, of all within 30 %.",
        ),
        Quality::Fair => (
            Ink::Yellow,
            "fair",
            "IOPS of half of the loads are within 10 %, of nine in ten within 30 %. A load that is far \
             off among good ones is an episode in which the disk did something else: measure again.",
        ),
        Quality::Poor => (
            Ink::Red,
            "poor",
            "the disk does not behave as the model can, or it did not hold still: measure it again \
             when nothing else uses it, and longer (`blocklab run calibrate --runtime 10s`), before \
             anything rests on this.",
        ),
    };
    let mut entries = vec![Entry::new(ink, &format!("Fit: {word}  "), MEANING, meaning)];
    let figures = [
        ("IOPS", &residuals.iops),
        ("mean", &residuals.mean_ns),
        ("p50", &residuals.p50_ns),
        ("p99", &residuals.p99_ns),
    ];
    for (name, errors) in figures {
        if let Some(errors) = errors {
            entries.push(Entry {
                fit: Fit::Whole,
                ..Entry::new(Ink::Bold, &format!("  {name}"), ERRORS, error_text(errors))
            });
        }
    }
    if let Some(percent) = residuals.passes_differ_percent {
        let passes = format!(
            "The disk's own passes differ by {percent:.1} % in half of the loads: no model can be \
             nearer than half of that."
        );
        entries.push(Entry::new(Ink::Dim, "  ", MARGIN, passes));
    }
    entries
}

/// `off by 2.1 % in half of 24 loads, 8.0 % in nine of ten, -12.3 % at worst (random read 4 KiB
/// q1)`.
fn error_text(errors: &Errors) -> String {
    let worst = &errors.worst;
    format!(
        "off by {:>5.1} % in half of {}, {:>5.1} % in nine of ten, {} at worst ({})",
        errors.median_percent,
        plural(errors.cells, "load"),
        errors.p90_percent,
        off(worst.error_percent),
        worst.load,
    )
}

#[cfg(test)]
mod tests {
    use blocklab_calibrate::Spot;

    use super::*;

    /// The story: where one load alone had a known p99, its error was "in half of 1 loads".
    #[test]
    fn one_load_is_in_the_singular() {
        let errors = Errors {
            median_percent: 2.1,
            p90_percent: 2.1,
            worst: Spot {
                load: "4 KiB random read, depth 1".to_owned(),
                error_percent: -2.1,
            },
            cells: 1,
        };
        let text = error_text(&errors);
        assert!(text.contains("in half of 1 load,"), "{text}");
    }

    #[test]
    fn large_errors_need_no_decimal() {
        assert_eq!(off(-3.24), "-3.2 %");
        assert_eq!(off(250.0), "+250 %");
    }
}
