//! A fitted device, and how far it is from the disk, as text for a terminal.

use blocklab_calibrate::{Calibration, Compared, Errors, Quality, Residual, Residuals};
use blocklab_units::{Bytes, count, latency, rate};

use super::grid::{aligned, padded};
use blocklab_units::{Ink, Style, width};

/// What was fitted and from what, every cell of the disk beside the model's, how far the model can
/// be trusted, and what the records cannot tell. Ends with a newline.
#[must_use]
pub fn calibration(fitted: &Calibration, residuals: &Residuals, style: Style) -> String {
    let parts = [
        head(fitted, style),
        constants(fitted, style),
        cells(residuals, style),
        errors(residuals, style),
        list("Not known", &fitted.unknown, style),
        list("Left out", &left_out(fitted), style),
    ];
    let said: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    said.join("\n")
}

fn head(fitted: &Calibration, style: Style) -> String {
    let loads = count(fitted.cells as f64);
    let name = style.paint(Ink::Bold, &fitted.device.name);
    format!("{name}\n  {loads} loads\n")
}

/// Name, value and evidence of every figure of the device.
fn constants(fitted: &Calibration, style: Style) -> String {
    let runs = runs(&fitted.runs);
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
        .filter_map(|it| it.service.as_ref())
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
                figures(tail.share * 100.0),
                figures(tail.factor)
            );
            rows.push(["slow operations".to_owned(), text, from]);
        }
    }
    let widest = |column: usize| {
        rows.iter()
            .map(|row| width(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let (name, number) = (widest(0), widest(1));
    let line = |[what, value, from]: &[String; 3]| {
        let blanks = " ".repeat(number - width(value));
        let head = format!("  {}  {blanks}{value}  ", padded(what, name));
        style.hang(Ink::Bold, &head, width(&head), from)
    };
    rows.iter().map(line).collect()
}

/// `run a` or `runs a, b`: as the origins of the device begin.
fn runs(ids: &[String]) -> String {
    match ids {
        [one] => format!("run {one}"),
        several => format!("runs {}", several.join(", ")),
    }
}

fn value(value: f64, unit: &str) -> String {
    format!("{} {unit}", figures(value))
}

/// Four figures, thousands set apart.
fn figures(value: f64) -> String {
    if value.abs() >= 999.5 {
        return count(value);
    }
    let digits = match value.abs() {
        v if v >= 99.95 => 1,
        v if v >= 9.995 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

const TITLES: [&str; 9] = [
    "IOPS", "model", "off", "mean", "model", "off", "p99", "model", "off",
];

/// The cells by pattern and direction, in columns that are the same for all.
fn cells(residuals: &Residuals, style: Style) -> String {
    let names: Vec<String> = residuals.cells.iter().map(name).collect();
    let rows: Vec<Vec<String>> = residuals.cells.iter().map(figures_of).collect();
    let wide = |column: usize| {
        let figures = rows.iter().map(|row| width(&row[column]));
        figures.max().unwrap_or(0).max(TITLES[column].len())
    };
    let widths: Vec<usize> = (0..TITLES.len()).map(wide).collect();
    let label = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let titles: Vec<String> = TITLES.map(str::to_owned).to_vec();
    let titles = aligned(&titles, widths.iter().copied());
    let titles = format!("{}{titles}", " ".repeat(4 + label));
    let mut out = format!("{}\n", style.paint(Ink::Dim, &titles));
    let mut group = String::new();
    for ((cell, name), row) in residuals.cells.iter().zip(&names).zip(&rows) {
        let next = heading(cell);
        if next != group {
            out.push_str(&format!("  {}\n", style.paint(Ink::Bold, &next)));
            group = next;
        }
        let figures = aligned(row, widths.iter().copied());
        let mark = if cell.cpu_bound { "  our CPU" } else { "" };
        out.push_str(&format!("    {}{figures}{mark}\n", padded(name, label)));
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

fn figures_of(cell: &Residual) -> Vec<String> {
    let three = |it: Compared, show: fn(f64) -> String| {
        [show(it.measured), show(it.simulated), off(it.error_percent)]
    };
    let none = || ["–".to_owned(), "–".to_owned(), String::new()];
    let p99 = cell.p99_ns.map_or_else(none, |it| three(it, latency));
    let all = [three(cell.iops, rate), three(cell.mean_ns, latency), p99];
    all.concat()
}

fn off(percent: f64) -> String {
    match percent.abs() < 99.5 {
        true => format!("{percent:+.1} %"),
        false => format!("{percent:+.0} %"),
    }
}

/// The judgement, and the errors by figure.
fn errors(residuals: &Residuals, style: Style) -> String {
    let (ink, word) = match residuals.quality {
        Quality::Good => (Ink::Green, "good"),
        Quality::Fair => (Ink::Yellow, "fair"),
        Quality::Poor => (Ink::Red, "poor"),
    };
    let says = match residuals.quality {
        Quality::Good => "IOPS of half of the loads are within 5 %, of nine in ten within 15 %.",
        Quality::Fair => "IOPS of half of the loads are within 10 %, of nine in ten within 30 %.",
        Quality::Poor => {
            "the disk does not behave as the model can, or it did not hold still: measure it again \
             when nothing else uses it, with a longer --runtime, before anything rests on this."
        }
    };
    let mut out = style.hang(ink, &format!("Fit: {word}  "), 11, says);
    let figures = [
        ("IOPS", &residuals.iops),
        ("mean", &residuals.mean_ns),
        ("p50", &residuals.p50_ns),
        ("p99", &residuals.p99_ns),
    ];
    for (name, errors) in figures {
        if let Some(errors) = errors {
            out.push_str(&format!("  {}  {}\n", padded(name, 4), told(errors)));
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

fn told(errors: &Errors) -> String {
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
    if items.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", style.paint(Ink::Bold, title));
    for item in items {
        out.push_str(&style.hang(Ink::Dim, "  -", 4, item));
    }
    out
}

fn left_out(fitted: &Calibration) -> Vec<String> {
    let reasons = fitted.left_out.iter();
    let reasons =
        reasons.map(|it| format!("{}: {} of the measurements", it.reason, it.measurements));
    reasons.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_as_people_read_them() {
        for (value, text) in [
            (3000.0, "3,000"),
            (0.295, "0.295"),
            (12.0, "12"),
            (125.0, "125"),
            (583.27, "583.3"),
            (2.199, "2.199"),
        ] {
            assert_eq!(figures(value), text);
        }
        assert_eq!(off(-3.24), "-3.2 %");
        assert_eq!(off(250.0), "+250 %");
    }
}
