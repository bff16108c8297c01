//! The sweeps of a run: cases that one `matrix` made, laid out by their settings, and cases written
//! one by one that differ in their depth or threads alone.

use blocklab_units::{Bytes, count};
use blocklab_workload::{Direction, swept_part};

use crate::{OnlyJob, Row, RowDirection};

/// A setting and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// `depth`, `block_size`.
    pub setting: String,
    /// For people, ascending where they are numbers: `4 KiB`.
    pub values: Vec<String>,
    /// The values as numbers, sizes in bytes; `None`: they are none.
    pub places: Option<Vec<f64>>,
}

/// One direction of the cases of a matrix, over an axis of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep<'a> {
    /// What its cases share: the name without settings, and those settings that are no axis.
    pub name: String,
    /// Whether the operations read, wrote or trimmed.
    pub direction: Direction,
    /// The cases of its points.
    pub cases: Vec<&'a str>,
    /// The axis of numbers.
    pub across: Axis,
    /// Each of its values is a line; `None`: there is but one line.
    pub by: Option<Axis>,
    /// Whether its cases have other directions, too.
    pub is_mixed: bool,
    /// By line and by place across; `None`: not measured.
    pub cells: Vec<Vec<Option<&'a RowDirection>>>,
}

/// A case as a point of a sweep.
struct Point<'a> {
    row: &'a Row,
    /// Names and values, in the order of the axes.
    settings: Vec<(String, String)>,
}

impl Point<'_> {
    /// Its value on the axis at `place`.
    fn value(&self, place: usize) -> &str {
        let (_, value) = &self.settings[place];
        value
    }

    fn has_settings_of(&self, other: &Self) -> bool {
        let names = self.settings.iter().map(|(name, _)| name);
        names.eq(other.settings.iter().map(|(name, _)| name))
    }
}

/// The cases of one name that have the same settings.
type CaseFamily<'a> = (String, Vec<Point<'a>>);

/// Adds a point to those of its name that have the same settings.
fn add_to_family<'a>(families: &mut Vec<CaseFamily<'a>>, name: String, point: Point<'a>) {
    let known = families
        .iter_mut()
        .find(|(known, points)| *known == name && point.has_settings_of(&points[0]));
    match known {
        Some((_, points)) => points.push(point),
        None => families.push((name, vec![point])),
    }
}

/// The job of a case that no matrix made, as if a matrix had set its numbers.
fn settings(job: &OnlyJob) -> Vec<(String, String)> {
    let numbers = [("depth", job.depth), ("threads", job.threads)];
    let known = numbers.into_iter().filter(|(_, number)| *number > 0);
    known
        .map(|(setting, number)| (setting.to_owned(), number.to_string()))
        .collect()
}

/// Adds a point to those of its name.
pub fn add<P>(all: &mut Vec<(String, Vec<P>)>, name: String, point: P) {
    match all.iter_mut().find(|(known, _)| *known == name) {
        Some((_, points)) => points.push(point),
        None => all.push((name, vec![point])),
    }
}

/// This many cases that were written one by one make a curve.
const CURVE: usize = 3;

/// The families of cases that no matrix made. What varies in them is one number alone.
fn by_hand(rows: &[Row]) -> Vec<CaseFamily<'_>> {
    let mut families = Vec::new();
    for row in rows.iter().filter(|row| row.settings.is_empty()) {
        let Some(job) = &row.only_job else { continue };
        let point = Point {
            row,
            settings: settings(job),
        };
        add_to_family(&mut families, job.other_settings.clone(), point);
    }
    families.retain(|(_, points)| {
        // The numbers of a job are its depth and its threads.
        let varied: Vec<usize> = (0..2)
            .map(|place| {
                let mut values: Vec<_> = points
                    .iter()
                    .map(|point| point.settings.get(place))
                    .collect();
                values.sort_unstable();
                values.dedup();
                values.len()
            })
            .filter(|values| *values > 1)
            .collect();
        // One number varies, and no two points have the same.
        points.len() >= CURVE && varied == [points.len()]
    });
    families
}

/// The sweeps of these rows, in their order. Of several axes of numbers, the one with the most
/// values lies across and the next makes the lines; the rest makes sweeps of their own.
pub fn sweeps(rows: &[Row]) -> Vec<Sweep<'_>> {
    let mut families = Vec::new();
    for row in rows.iter().filter(|row| !row.settings.is_empty()) {
        let name = row.settings.iter().fold(row.case.clone(), without);
        let point = Point {
            row,
            settings: row.settings.clone(),
        };
        add_to_family(&mut families, name, point);
    }
    families.extend(by_hand(rows));
    families
        .iter()
        .flat_map(|(name, points)| family(name, points))
        .collect()
}

/// The name of a case without one of its settings, in any of the spellings of `rd1_(10%) threads=8` and
/// `b-engine-psync-depth8`.
pub fn without(name: String, setting: &(String, String)) -> String {
    let (key, value) = setting;
    let spellings = [
        format!("_({value})"),
        format!(" {key}={value}"),
        swept_part(setting),
    ];
    spellings
        .iter()
        .fold(name, |name, spelling| name.replacen(spelling, "", 1))
}

/// `32`, `50%` or `64KiB` as a number to draw with.
pub fn number(text: &str) -> Option<f64> {
    let plain = text
        .strip_suffix('%')
        .unwrap_or(text)
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite());
    plain.or_else(|| text.parse::<Bytes>().ok().map(Bytes::as_f64))
}

/// Splits cases that differ in several settings into sweeps. The numeric setting with the most
/// values becomes the axis, another one tells curves apart, and the rest are fixed and named.
fn family<'a>(name: &str, points: &[Point<'a>]) -> Vec<Sweep<'a>> {
    let settings = points[0].settings.len();
    let axes: Vec<Axis> = (0..settings).map(|place| axis(points, place)).collect();
    let mut varied: Vec<usize> = (0..settings)
        .filter(|place| axes[*place].values.len() > 1)
        .collect();
    let numbers = varied
        .iter()
        .copied()
        .filter(|place| axes[*place].places.is_some());
    // `max_by_key` gives the last of equally long ones: in reverse, that is the first of them.
    let Some(across) = numbers.rev().max_by_key(|place| axes[*place].values.len()) else {
        return Vec::new();
    };
    varied.retain(|place| *place != across);
    let number = varied.iter().find(|place| axes[**place].places.is_some());
    let by = number.or(varied.first()).copied();
    varied.retain(|place| Some(*place) != by);
    let mut parts: Vec<(String, Vec<&Point<'a>>)> = Vec::new();
    for point in points {
        let fixed = varied.iter().map(|place| {
            let (setting, value) = &point.settings[*place];
            format!(", {setting} {}", shown(value))
        });
        let name = format!("{name}{}", fixed.collect::<String>());
        add(&mut parts, name, point);
    }
    parts
        .iter()
        .flat_map(|(name, points)| sweep_of_each_direction(name, points, &axes, across, by))
        .collect()
}

/// The sweeps of these points, one for each direction. `across` and `by`: the places of their axes.
fn sweep_of_each_direction<'a>(
    name: &str,
    points: &[&Point<'a>],
    axes: &[Axis],
    across: usize,
    by: Option<usize>,
) -> Vec<Sweep<'a>> {
    let mut directions: Vec<Direction> = Vec::new();
    for direction in points.iter().flat_map(|point| point.row.moved()) {
        if !directions.contains(&direction.direction) {
            directions.push(direction.direction);
        }
    }
    let lines: Vec<Option<&String>> = match by {
        Some(by) => axes[by].values.iter().map(Some).collect(),
        None => vec![None],
    };
    let placed: Vec<_> = points
        .iter()
        .map(|point| {
            let line = by.map(|by| shown(point.value(by)));
            (shown(point.value(across)), line, point.row)
        })
        .collect();
    let is_mixed = directions.len() > 1;
    directions
        .into_iter()
        .map(|direction| Sweep {
            name: name.to_owned(),
            direction,
            is_mixed,
            cases: points.iter().map(|point| point.row.case.as_str()).collect(),
            across: axes[across].clone(),
            by: by.map(|by| axes[by].clone()),
            cells: lines
                .iter()
                .map(|line| {
                    let values = axes[across].values.iter();
                    values
                        .map(|value| {
                            let mut placed = placed.iter();
                            let (_, _, row) =
                                placed.find(|(x, y, _)| x == value && y.as_ref() == *line)?;
                            row.moved().find(|moved| moved.direction == direction)
                        })
                        .collect()
                })
                .collect(),
        })
        .collect()
}

/// The axis of the setting at `place`: its values, each once.
fn axis(points: &[Point<'_>], place: usize) -> Axis {
    let mut values: Vec<&str> = Vec::new();
    for point in points {
        let value = point.value(place);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    if let Some(numbers) = &numbers {
        order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    }
    let (setting, _) = &points[0].settings[place];
    Axis {
        setting: setting.clone(),
        values: order.iter().map(|index| shown(values[*index])).collect(),
        places: numbers.map(|numbers| order.iter().map(|index| numbers[*index]).collect()),
    }
}

/// `4 KiB` of `4KiB`, `2,000` of `2000`; anything else as it is.
fn shown(value: &str) -> String {
    let is_size = value.parse::<f64>().is_err();
    let size = value.parse::<Bytes>().ok().filter(|_| is_size);
    match (size, value.parse::<u64>()) {
        (Some(size), _) => size.to_string(),
        (None, Ok(number)) if number >= 1_000 => count(number as f64),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record};

    /// Rows of a matrix, in an order that is not that of the numbers.
    fn rows(settings: &[&[(&str, &str)]]) -> Vec<Row> {
        settings
            .iter()
            .map(|settings| {
                let mut row = crate::assess(&record(&[Sketch::default()])).rows.remove(0);
                row.settings = settings
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                    .collect();
                let tail: String = row.settings.iter().map(swept_part).collect();
                row.case = format!("rand{tail}");
                row
            })
            .collect()
    }

    #[test]
    fn a_matrix_is_laid_out_by_its_numbers() {
        let sizes = ["64KiB", "4KiB"];
        let depths = ["16", "1", "4"];
        let settings: Vec<Vec<(&str, &str)>> = depths
            .iter()
            .flat_map(|depth| sizes.map(|size| vec![("depth", *depth), ("block_size", size)]))
            .collect();
        let settings: Vec<&[(&str, &str)]> = settings.iter().map(Vec::as_slice).collect();
        let mut rows = rows(&settings);
        rows.pop();
        let found = sweeps(&rows);
        assert_eq!(found.len(), 1);
        let sweep = &found[0];
        assert_eq!((&*sweep.name, &*sweep.across.setting), ("rand", "depth"));
        assert_eq!(sweep.across.values, ["1", "4", "16"]);
        let by = sweep.by.as_ref().expect("lines");
        assert_eq!(by.values, ["4 KiB", "64 KiB"]);
        let known = |line: &Vec<Option<&RowDirection>>| {
            line.iter().map(Option::is_some).collect::<Vec<_>>()
        };
        assert_eq!(
            known(&sweep.cells[0]),
            [true, false, true],
            "the last row was taken away"
        );
        assert_eq!(known(&sweep.cells[1]), [true; 3]);
    }

    /// The story: an engine was looked for as `-enginepsync` in names that have `-engine-psync`, so each
    /// engine had a sweep of its own instead of a line in one.
    #[test]
    fn words_make_lines_and_more_axes_make_more_sweeps() {
        let both = rows(&[
            &[("engine", "psync"), ("depth", "1")],
            &[("engine", "psync"), ("depth", "8")],
            &[("engine", "io_uring"), ("depth", "1")],
            &[("engine", "io_uring"), ("depth", "8")],
        ]);
        let found = sweeps(&both);
        assert_eq!((found.len(), &*found[0].name), (1, "rand"));
        let by = found[0].by.as_ref().expect("lines");
        assert_eq!((&*by.setting, &by.places), ("engine", &None));
        assert!(sweeps(&rows(&[&[("engine", "psync")], &[("engine", "libaio")]])).is_empty());
        let more = rows(&[
            &[("depth", "1"), ("block_size", "4KiB"), ("engine", "psync")],
            &[("depth", "8"), ("block_size", "8KiB"), ("engine", "psync")],
            &[("depth", "1"), ("block_size", "4KiB"), ("engine", "libaio")],
        ]);
        let names: Vec<_> = sweeps(&more).into_iter().map(|sweep| sweep.name).collect();
        assert_eq!(names, ["rand, engine psync", "rand, engine libaio"]);
    }

    /// A study with a case each for depths 1, 4, 16 and 64 had no curve: only a matrix had one.
    #[test]
    fn depths_that_were_written_one_by_one_are_a_curve() {
        let rows_of_depths = |depths: &[(u32, &'static str)]| -> Vec<Row> {
            let sketch = |(depth, name): &(u32, &'static str)| Sketch {
                depth: *depth,
                ..Sketch::named(name)
            };
            let all: Vec<Sketch> = depths.iter().map(sketch).collect();
            crate::assess(&record(&all)).rows
        };
        let rows = rows_of_depths(&[(16, "many"), (1, "one"), (4, "few")]);
        let found = sweeps(&rows);
        assert_eq!(found.len(), 1, "{:?}", rows[0].what);
        assert_eq!(found[0].across.setting, "depth");
        assert_eq!(found[0].across.values, ["1", "4", "16"]);
        assert_eq!(found[0].cases, ["many", "one", "few"]);
        assert!(
            sweeps(&rows_of_depths(&[(1, "one"), (4, "few")])).is_empty(),
            "two are no curve"
        );
        assert!(
            sweeps(&rows_of_depths(&[(1, "a"), (4, "b"), (4, "c")])).is_empty(),
            "one place, two cases"
        );
    }

    /// The story: cases written one by one, of which one did not tell its depth, ended the program: a
    /// setting was looked up that this case has not.
    #[test]
    fn cases_of_unknown_depth_are_no_points_of_a_curve() {
        let sketch = |depth| Sketch {
            depth,
            ..Sketch::named(if depth == 8 { "few" } else { "many" })
        };
        let mut rows = crate::assess(&record(&[sketch(8), sketch(16)])).rows;
        rows.push(Row {
            case: "unknown".to_owned(),
            ..rows[0].clone()
        });
        for (row, depth) in rows.iter_mut().zip([8, 16, 0]) {
            let job = row.only_job.as_mut().expect("one job");
            (job.depth, job.threads) = (depth, 0);
        }
        assert!(sweeps(&rows).is_empty(), "two of known depth are no curve");
    }

    #[test]
    fn settings_are_numbers_shares_or_sizes() {
        assert_eq!(number("32"), Some(32.0));
        assert_eq!(number("50%"), Some(50.0));
        assert_eq!(number("64KiB"), Some(65_536.0));
        assert_eq!(number("psync"), None);
    }

    #[test]
    fn values_are_shown_as_figures() {
        for (value, expected) in [
            ("64KiB", "64 KiB"),
            ("2000", "2,000"),
            ("50%", "50%"),
            ("psync", "psync"),
        ] {
            assert_eq!(shown(value), expected);
        }
    }

    /// The story: loops of Vdbench name their runs `rd1 threads=8`, which was not taken out, so that a run
    /// of several numbers of threads had no sweep.
    #[test]
    fn a_setting_is_taken_out_of_the_name_of_its_case() {
        for (case, setting, value, expected) in [
            ("rd1_(10%) threads=8", "curve", "10%", "rd1 threads=8"),
            ("rd1_(10%) threads=8", "threads", "8", "rd1_(10%)"),
            ("b-rate_percent50", "rate_percent", "50", "b"),
            ("b-rate_percent50-2", "rate_percent", "50", "b-2"),
            ("b-engine-psync-depth8", "engine", "psync", "b-depth8"),
        ] {
            let setting = (setting.to_owned(), value.to_owned());
            assert_eq!(without(case.to_owned(), &setting), expected);
        }
    }
}
