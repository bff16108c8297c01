//! Lines: a rate over a setting with its saturation point, a latency over a rate with its knee.

use blocklab_analysis::study::{Entry, Plot, Table};
use maud::{Markup, html};

use super::axis::{BOTTOM, HEIGHT, LEFT, RIGHT, Scale, TOP, WIDTH, is_wide};
use crate::shown::fixed;

/// A line as it is drawn.
struct Drawn {
    name: String,
    dye: usize,
    is_published: bool,
    /// Place to the right, place upwards, words.
    points: Vec<(f64, f64, String)>,
}

/// An upright mark with words.
struct Mark {
    x: f64,
    dye: usize,
    words: String,
}

/// A table whose rows are numbers, a line a column.
pub fn of_table(table: &Table) -> Markup {
    let Some(places) = &table.places else {
        return html! {};
    };
    let plain: Vec<usize> = (0..table.columns.len())
        .filter(|it| !table.ratios[*it])
        .collect();
    let values = |entry: &Entry| [entry.ours.map(|it| it.value), entry.published];
    let entries = (0..places.len()).flat_map(|row| {
        let columns = plain.iter();
        columns.filter_map(move |column| table.cells[row][*column].as_ref())
    });
    let across = Scale::across(places.iter().copied(), is_wide(places.iter().copied()));
    let up = Scale::up(entries.flat_map(values).flatten(), false);
    let mut lines = Vec::new();
    let mut marks = Vec::new();
    for (dye, column) in plain.iter().enumerate() {
        for is_published in [false, true] {
            let point = |row: usize| {
                let (value, words) = described(table, row, *column, is_published)?;
                Some((across.place(places[row]), up.place(value), words))
            };
            let points: Vec<_> = (0..places.len()).filter_map(point).collect();
            if !points.is_empty() {
                lines.push(Drawn {
                    name: table.columns[*column].clone(),
                    dye,
                    is_published,
                    points,
                });
            }
        }
        if let [Some(found), _] = table.saturations[*column] {
            marks.push(Mark {
                x: across.place(found.at),
                dye,
                words: format!("{}: 95 % of the maximum", table.columns[*column]),
            });
        }
    }
    let ticks = table.rows.iter().zip(places);
    let ticks: Vec<_> = ticks
        .map(|(name, at)| (across.place(*at), name.clone()))
        .collect();
    let unit = table.cells.iter().flatten().flatten().next();
    let unit = unit.map_or("", |it| &*it.unit);
    picture(&Picture {
        lines,
        marks,
        ticks,
        up,
        bound: None,
        title_x: &table.corner,
        title_y: unit,
    })
}

/// The figure of a cell, ours or the published one, and its words.
fn described(
    table: &Table,
    row: usize,
    column: usize,
    is_published: bool,
) -> Option<(f64, String)> {
    let entry = table.cells[row][column].as_ref()?;
    let value = match is_published {
        true => entry.published?,
        false => entry.ours?.value,
    };
    let words = format!(
        "{}, {} {}: {} {}{}",
        table.columns[column],
        table.rows[row],
        table.corner,
        fixed(value, entry.decimals),
        entry.unit,
        if is_published { " (published)" } else { "" }
    );
    Some((value, words))
}

/// One figure over another.
pub fn of_plot(plot: &Plot) -> Markup {
    let points = || plot.lines.iter().flat_map(|line| &line.points);
    if points().next().is_none() {
        return html! {};
    }
    let across = Scale::across(points().map(|it| it.x), is_wide(points().map(|it| it.x)));
    let up = Scale::up(
        points().map(|it| it.y).chain(plot.bound),
        is_wide(points().map(|it| it.y).chain(plot.bound)),
    );
    let several = plot
        .lines
        .iter()
        .any(|it| it.family != plot.lines[0].family);
    let mut marks = Vec::new();
    let lines = plot.lines.iter().enumerate().map(|(dye, line)| {
        let name = match several {
            true => format!("{}, {}", line.system, line.family),
            false => line.system.clone(),
        };
        if let Some(knee) = line.knee {
            marks.push(Mark {
                x: across.place(knee.x),
                dye,
                words: format!("{name}: knee"),
            });
        }
        let words = |x: f64, y: f64| {
            format!(
                "{name}: {} {}, {} {}",
                fixed(x, 0),
                plot.x,
                fixed(y, 0),
                plot.y
            )
        };
        let points = line.points.iter();
        let points = points.map(|it| (across.place(it.x), up.place(it.y), words(it.x, it.y)));
        Drawn {
            points: points.collect(),
            is_published: false,
            name: name.clone(),
            dye,
        }
    });
    let lines = lines.collect();
    let ticks = across.ticks().into_iter();
    picture(&Picture {
        lines,
        marks,
        ticks: ticks.map(|(at, word)| (across.place(at), word)).collect(),
        up,
        bound: plot.bound,
        title_x: &plot.x,
        title_y: &plot.y,
    })
}

struct Picture<'a> {
    lines: Vec<Drawn>,
    marks: Vec<Mark>,
    ticks: Vec<(f64, String)>,
    up: Scale,
    bound: Option<f64>,
    title_x: &'a str,
    title_y: &'a str,
}

fn picture(of: &Picture<'_>) -> Markup {
    let floor = HEIGHT - BOTTOM;
    html! {
        div class="card" {
            (legend(&of.lines, !of.marks.is_empty()))
            svg class="study-chart" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
                aria-label=(format!("{} over {}", of.title_y, of.title_x)) {
                @for (value, word) in of.up.ticks() {
                    @let y = of.up.place(value);
                    line class="rule" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y) y2=(y) {}
                    text class="tick tick-y" x=(LEFT - 8.0) y=(y + 4.0) { (word) }
                }
                @for (x, word) in &of.ticks {
                    line class="rule" x1=(x) x2=(x) y1=(TOP) y2=(floor) {}
                    text class="tick" x=(x) y=(floor + 18.0) { (word) }
                }
                text class="title" x=(LEFT) y=(HEIGHT - 6.0) { (of.title_y) " over " (of.title_x) }
                @if let Some(bound) = of.bound {
                    @let y = of.up.place(bound);
                    line class="bound" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y) y2=(y) {}
                }
                @for mark in &of.marks {
                    line class="mark-line" style=(dye(mark.dye)) x1=(mark.x) x2=(mark.x)
                        y1=(TOP) y2=(floor) { title { (mark.words) } }
                }
                @for line in &of.lines { (drawn(line)) }
            }
        }
    }
}

fn drawn(line: &Drawn) -> Markup {
    let class = if line.is_published {
        "curve published"
    } else {
        "curve"
    };
    let path: Vec<String> = line
        .points
        .iter()
        .map(|(x, y, _)| format!("{x},{y}"))
        .collect();
    html! {
        polyline class=(class) style=(dye(line.dye)) points=(path.join(" ")) {}
        @for (x, y, words) in &line.points {
            circle class=(if line.is_published { "dot published" } else { "dot" })
                style=(dye(line.dye)) cx=(x) cy=(y) r="3.5" { title { (words) } }
        }
    }
}

fn legend(lines: &[Drawn], marked: bool) -> Markup {
    html! {
        div class="legend" {
            @for line in lines {
                span class="entry" {
                    span class=(if line.is_published { "swatch dashed" } else { "swatch" })
                        style=(dye(line.dye)) {}
                    (line.name) @if line.is_published { ", published" }
                }
            }
            @if marked {
                span class="key" { span class="key-line dotted" {} "saturation point or knee" }
            }
        }
    }
}

pub fn dye(index: usize) -> String {
    format!("--dye:var(--s{})", index % 8 + 1)
}
