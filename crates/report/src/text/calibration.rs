//! A fitted device, and how far it is from the disk, as text for a terminal.

use blocklab_calibrate::{Calibration, Compared, Errors, Quality, Residual, Residuals};
use blocklab_units::{Bytes, Ink, Style, count, latency, rate, significant, width};

use super::grid;

/// What was fitted and from what, every cell of the disk next to the model's, how far the model can
/// be trusted, and what the records do not show. Ends with a newline.
pub fn calibration(fitted: &Calibration, residuals: &Residuals, style: Style) -> String {
    let parts = [
        head(fitted, style),
        constants(fitted, style),
        cells(residuals, style),
        errors(residuals, style),
        list("Not known", &fitted.unknown, style),
        list("Left out", &left_out(fitted), style),
    ];
    super::joined(parts)
}

fn head(fitted: &Calibration, style: Style) -> String {
    let loads = count(fitted.cells as f64);
    let name = style.paint(Ink::Bold, &fitted.device.name);
    format!("{name}\n  {loads} loads\n")
}

/// Name, value and evidence of every figure of the device.
fn constants(fitted: &Calibration, style: Style) -> String {
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
    let heads = rows
        .iter()
        .map(|[what, value, _]| [what.clone(), value.clone()]);
    let heads = grid::lines(
        &heads.collect::<Vec<_>>(),
        |column| column == 1,
        usize::MAX,
        2,
    );
    let line = |(head, [_, _, from]): (String, &[String; 3])| {
        let head = format!("  {head}  ");
        style.hang(Ink::Bold, &head, width(&head), from)
    };
    heads.into_iter().zip(&rows).map(line).collect()
}

fn value(value: f64, unit: &str) -> String {
    format!("{} {unit}", significant(value, 4))
}

const TITLES: [&str; 9] = [
    "IOPS", "model", "off", "mean", "model", "off", "p99", "model", "off",
];

/// The cells by pattern and direction, in columns that are the same for all.
fn cells(residuals: &Residuals, style: Style) -> String {
    let titles = [""].into_iter().chain(TITLES).map(str::to_owned);
    let mut rows: Vec<Vec<String>> = vec![titles.collect()];
    rows.extend(residuals.cells.iter().map(figures_of));
    let lines = grid::lines(&rows, |column| column > 0, grid::room(style, 4), 2);
    let titles = format!("    {}", lines[0]);
    let mut out = format!("{}\n", style.paint(Ink::Dim, &titles));
    let mut group = String::new();
    for (cell, line) in residuals.cells.iter().zip(&lines[1..]) {
        let next = heading(cell);
        if next != group {
            out.push_str(&format!("  {}\n", style.paint(Ink::Bold, &next)));
            group = next;
        }
        let mark = if cell.cpu_bound { "  our CPU" } else { "" };
        out.push_str(&grid::indented(&format!("{line}{mark}"), 4));
    }
    out
}

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

/// Its name and a figure for each of [`TITLES`].
fn figures_of(cell: &Residual) -> Vec<String> {
    let three = |it: Compared, show: fn(f64) -> String| {
        [show(it.measured), show(it.simulated), off(it.error_percent)]
    };
    let none = || ["–".to_owned(), "–".to_owned(), String::new()];
    let p99 = cell.p99_ns.map_or_else(none, |it| three(it, latency));
    let all = [three(cell.iops, rate), three(cell.mean_ns, latency), p99];
    [&[name(cell)], &all.concat()[..]].concat()
}

fn off(percent: f64) -> String {
    if percent.abs() < 99.5 {
        format!("{percent:+.1} %")
    } else {
        format!("{percent:+.0} %")
    }
}

/// The judgement, and the errors by figure.
fn errors(residuals: &Residuals, style: Style) -> String {
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
             when nothing else uses it, with a longer --runtime, before anything rests on this.",
        ),
    };
    let mut out = style.hang(ink, &format!("Fit: {word}  "), 11, meaning);
    let figures = [
        ("IOPS", &residuals.iops),
        ("mean", &residuals.mean_ns),
        ("p50", &residuals.p50_ns),
        ("p99", &residuals.p99_ns),
    ];
    for (name, errors) in figures {
        if let Some(errors) = errors {
            out.push_str(&format!("  {name:<4}  {}\n", error_text(errors)));
        }
    }
    if let Some(percent) = residuals.passes_differ_percent {
        let passes = format!(
            "The disk's own passes differ by {percent:.1} % in half of the loads: no model can be \
             nearer than half of that."
        );
        out.push_str(&style.hang(Ink::Dim, "  ", 2, &passes));
    }
    out
}

fn error_text(errors: &Errors) -> String {
    let worst = &errors.worst;
    format!(
        "off by {:>5.1} % in half of {} loads, {:>5.1} % in nine of ten, {} at worst ({})",
        errors.median_percent,
        errors.cells,
        errors.p90_percent,
        off(worst.error_percent),
        worst.load,
    )
}

fn list(title: &str, items: &[String], style: Style) -> String {
    let lines = items
        .iter()
        .map(|item| style.hang(Ink::Dim, "  -", 4, item));
    super::titled(title, lines, style)
}

fn left_out(fitted: &Calibration) -> Vec<String> {
    let reasons = fitted.left_out.iter();
    let reasons = reasons.map(|reason| {
        format!(
            "{}: {} of the measurements",
            reason.reason, reason.measurements
        )
    });
    reasons.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_errors_need_no_decimal() {
        assert_eq!(off(-3.24), "-3.2 %");
        assert_eq!(off(250.0), "+250 %");
    }
}
