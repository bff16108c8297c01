//! What a small study shows: a table over depths with what was published, bars, and a curve that
//! turns back.

use blocklab_compare::study::{
    Drawn, Entry, Line, Outcome, Plot, Point, Quantity, Saturation, Table, Value,
};

fn entry(value: f64, unit: &str, published: Option<f64>) -> Option<Entry> {
    Some(Entry {
        figure: "iops".to_owned(),
        unit: unit.to_owned(),
        decimals: 0,
        case: None,
        system: "small".to_owned(),
        ours: Some(Value {
            value,
            low: Some(value * 0.98),
            high: Some(value * 1.02),
            passes: 3,
        }),
        published,
        difference_percent: None,
    })
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn rates() -> Table {
    Table {
        title: "Rate by depth".to_owned(),
        note: String::new(),
        corner: "depth".to_owned(),
        rows: texts(&["1", "4", "32"]),
        columns: texts(&["small", "large"]),
        ratios: vec![false, false],
        cells: vec![
            vec![
                entry(1_000.0, "IOPS", Some(990.0)),
                entry(1_100.0, "IOPS", None),
            ],
            vec![
                entry(3_900.0, "IOPS", Some(4_100.0)),
                entry(4_300.0, "IOPS", None),
            ],
            vec![entry(12_000.0, "IOPS", None), entry(31_000.0, "IOPS", None)],
        ],
        drawing: Drawn::Lines,
        places: Some(vec![1.0, 4.0, 32.0]),
        saturations: vec![
            [
                Some(Saturation {
                    at: 28.0,
                    after: Some(4.0),
                    by: 32.0,
                    peak: 12_000.0,
                }),
                None,
            ],
            [None, None],
        ],
    }
}

fn bars() -> Table {
    Table {
        title: "All at once".to_owned(),
        corner: "load".to_owned(),
        rows: texts(&["reads", "writes"]),
        columns: texts(&["small", "moved"]),
        cells: vec![
            vec![
                entry(12_000.0, "IOPS", Some(11_000.0)),
                entry(47.0, "MB/s", None),
            ],
            vec![entry(8_000.0, "IOPS", None), None],
        ],
        drawing: Drawn::Bars,
        places: None,
        saturations: vec![[None, None]; 2],
        ..rates()
    }
}

fn line() -> Line {
    let point = |(x, y)| Point {
        x,
        y,
        past_peak: y > 1_000.0,
    };
    let points = [
        (1_000.0, 100.0),
        (9_000.0, 300.0),
        (12_000.0, 900.0),
        (11_500.0, 2_000.0),
    ];
    Line {
        system: "small".to_owned(),
        family: "reads".to_owned(),
        points: points.map(point).to_vec(),
        knee: Some(point(points[1])),
        peak: Some(point(points[2])),
        crossing: None,
    }
}

fn quantity(what: &str, unit: &'static str) -> Quantity {
    Quantity {
        what: what.to_owned().into(),
        unit,
    }
}

pub fn outcome() -> Outcome {
    Outcome {
        tables: vec![rates(), bars()],
        plots: vec![Plot {
            title: "Latency over rate".to_owned(),
            note: String::new(),
            x: quantity("", "IOPS"),
            y: quantity("mean service time", "µs"),
            bound: Some(1_000.0),
            lines: vec![line()],
        }],
        ..Outcome::default()
    }
}
