//! `blocklab list`: a line for each run that fits.

use std::iter;

use anyhow::{Result, ensure};
use blocklab_compare::gate::fits;
use blocklab_compare::history::Fastest;
use blocklab_console::terminal;
use blocklab_report::document::{Column, Document, Form, Part, Row};
use blocklab_report::fields;
use blocklab_results::history::DERIVATION;
use blocklab_store::{Damaged, Listed, Store};
use blocklab_units::{count, plural};
use clap::ValueEnum;
use jiff::Timestamp;
use serde::Serialize;

use crate::answer;
use blocklab_args::{Ended, FilterArgs, ListArgs, Output};

/// A run and what it is known by.
#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    run: Listed,
    /// `None`: nothing was measured.
    fastest: Option<Fastest>,
}

/// Prints one line a run, and warns of folders that are no runs.
pub fn list(args: &ListArgs, store: &Store) -> Result<()> {
    let listing = store.index(&DERIVATION);
    warn_of_damaged(&listing.damaged, store)?;
    let all = listing.runs.len();
    let now = Timestamp::now();
    let runs = listing.runs.into_iter();
    let wanted = runs.filter(|indexed| is_wanted(store, &indexed.run, &args.filter, now));
    let mut lines: Vec<Line> = wanted
        .map(|indexed| Line {
            run: indexed.run,
            fastest: indexed.head.and_then(|head| head.fastest),
        })
        .collect();
    // The store gives the oldest first.
    let limit = args.limit.map_or(usize::MAX, |limit| limit.get() as usize);
    lines.drain(..lines.len().saturating_sub(limit));
    if !args.reverse {
        lines.reverse();
    }
    let fields = fields! {
        list_format: 1,
        runs: &lines,
        damaged: &listing.damaged,
    };
    // Only a terminal has no room for all of it.
    let width = match args.form.output() {
        Output::Document(Form::Text(style)) => style.width.map(usize::from),
        _ => None,
    };
    answer::print(args.form, &fields, || {
        if lines.is_empty() && (all > 0 || listing.damaged.is_empty()) {
            let root = store.root().display();
            let text = match all {
                0 => format!("No runs in {root} yet: `blocklab run` makes one."),
                all => format!("None of the {} in {root} fits.", plural(all, "run")),
            };
            return Document {
                name: NAME_OF_VIEW.to_owned(),
                parts: vec![Part::Prose(text)],
            };
        }
        document(&lines, width)
    })
}

/// The most folders that a warning names.
const NAMED_FOLDERS: usize = 3;

/// Warns of folders that are no runs, in one line. A store that cannot be read is an error, for it
/// looks like one without runs.
pub fn warn_of_damaged(damaged: &[Damaged], store: &Store) -> Result<()> {
    let Some(first) = damaged.first() else {
        return Ok(());
    };
    let (path, why) = (first.path.display(), &first.why);
    ensure!(first.path != store.root(), "cannot read {path}: {why}");
    let warning = if damaged.len() == 1 {
        format!("{path}: {why}")
    } else {
        let names = damaged.iter().take(NAMED_FOLDERS).map(|one| {
            let name = one.path.file_name().unwrap_or(one.path.as_os_str());
            name.display().to_string()
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let more = match damaged.len().saturating_sub(NAMED_FOLDERS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "{} in {} cannot be read as runs: {names}{more}; of the first: {why}; `blocklab list --json` \
             has the reason of each",
            plural(damaged.len(), "folder"),
            store.root().display()
        )
    };
    terminal::warn(&warning);
    Ok(())
}

/// Whether a run fits all that is given.
pub fn is_wanted(store: &Store, run: &Listed, filter: &FilterArgs, now: Timestamp) -> bool {
    let is_like = |pattern: &Option<String>, text: &str| {
        let pattern = pattern.as_deref();
        pattern.is_none_or(|pattern| fits(pattern, text))
    };
    let mut targets = run.targets.iter();
    let is_on_target = (filter.target.as_deref())
        .is_none_or(|pattern| targets.any(|target| is_on(pattern, target)));
    let is_late_enough = filter.since.is_none_or(|since| {
        let began = run.started_at.parse::<Timestamp>();
        began.is_ok_and(|began| began >= since.moment(now))
    });
    is_like(&filter.name, &run.name)
        && is_like(&filter.study, &run.study)
        && filter.has_status(run)
        && is_on_target
        && is_late_enough
        // Last, as it looks into the folder of the run.
        && filter
            .tag
            .as_ref()
            .is_none_or(|tag| store.tags(run).contains(tag))
}

/// Whether a pattern is about a target, or about the directory of it: `run --target /data` measures a
/// file that it makes there.
fn is_on(pattern: &str, target: &str) -> bool {
    let directory = target.rsplit_once('/').map(|(directory, _)| directory);
    fits(pattern, target)
        || directory.is_some_and(|directory| fits(pattern.trim_end_matches('/'), directory))
}

const NAME_OF_VIEW: &str = "Runs";

const HEAD: [&str; 6] = [
    "RUN",
    "STARTED (UTC)",
    "STATUS",
    "MOST IOPS",
    "NAME",
    "TARGET",
];
/// The places of these columns.
const STARTED: usize = 1;
const STATUS: usize = 2;
const MOST_IOPS: usize = 3;
const NAME: usize = 4;
const TARGET: usize = 5;
/// A narrower terminal does without the moment, which the id contains.
const WIDE: usize = 110;
/// The most targets that are all named.
const NAMED_TARGETS: usize = 4;
/// A name or a target is cut to this width at most; with less room, its column goes.
const LEAST: usize = 8;
/// Blanks between two columns.
const GAP: usize = 2;

/// Cut to `width` columns where there is one: the target gives way first, then the name, and on a
/// terminal that is too narrow for a word of each, whole columns.
fn document(lines: &[Line], width: Option<usize>) -> Document {
    let head = HEAD.map(str::to_owned).to_vec();
    let mut rows: Vec<Vec<String>> = iter::once(head).chain(lines.iter().map(row)).collect();
    let shown: Vec<usize> = match width {
        Some(width) => cut_to_width(&mut rows, width),
        None => (0..HEAD.len()).collect(),
    };
    let columns = shown.iter().map(|column| match *column {
        MOST_IOPS => Column::figure(HEAD[MOST_IOPS]),
        column => Column::words(HEAD[column]),
    });
    let rows = rows.into_iter().skip(1).map(|row| {
        let cells = row.into_iter().zip(0..);
        let shown = cells.filter(|(_, column)| shown.contains(column));
        Row::from(shown.map(|(cell, _)| cell).collect::<Vec<_>>())
    });
    Document {
        name: NAME_OF_VIEW.to_owned(),
        parts: vec![Part::table(columns.collect::<Vec<_>>(), rows)],
    }
}

fn widest(rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().map(|row| row[column].chars().count());
    cells.max().unwrap_or(0)
}

/// Cuts names and targets to what the other columns leave of `width`. Returns the columns for which
/// there is room.
fn cut_to_width(rows: &mut [Vec<String>], width: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..HEAD.len())
        .filter(|column| *column != STARTED || width >= WIDE)
        .collect();
    for dispensable in [TARGET, STATUS, NAME] {
        let least = |column: &usize| match *column {
            NAME | TARGET => widest(rows, *column).min(LEAST),
            other => widest(rows, other),
        };
        if shown
            .iter()
            .map(|column| least(column) + GAP)
            .sum::<usize>()
            <= width + GAP
        {
            break;
        }
        shown.retain(|column| *column != dispensable);
    }
    let fixed = shown.iter().filter(|column| **column < NAME);
    let fixed: usize = fixed.map(|column| widest(rows, *column) + GAP).sum();
    let room = width.saturating_sub(fixed);
    let (name, target) = if shown.contains(&TARGET) {
        let name = widest(rows, NAME).min((room.saturating_sub(GAP) / 2).max(LEAST));
        (name, room.saturating_sub(name + GAP).max(LEAST))
    } else {
        (room.max(LEAST), LEAST)
    };
    for row in rows {
        row[NAME] = cut_end(&row[NAME], name);
        row[TARGET] = cut_start(&row[TARGET], target);
    }
    shown
}

fn cut_end(text: &str, width: usize) -> String {
    if text.chars().count() > width {
        text.chars().take(width - 1).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

/// The end of a path identifies it better than its beginning.
fn cut_start(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length > width {
        ['…']
            .into_iter()
            .chain(text.chars().skip(length - width + 1))
            .collect()
    } else {
        text.to_owned()
    }
}

/// A cell for each of [`HEAD`], uncut.
fn row(line: &Line) -> Vec<String> {
    let run = &line.run;
    // The word by which `--status` selects it.
    let status = Ended::from_run(run).to_possible_value();
    let fastest = line.fastest.as_ref();
    vec![
        run.id.clone(),
        moment(&run.started_at),
        status.expect("none is skipped").get_name().to_owned(),
        fastest.map_or_else(|| "-".to_owned(), |load| count(load.iops)),
        run.name.clone(),
        named(&run.targets),
    ]
}

/// The targets of a run; of many the first, and how many follow.
fn named(targets: &[String]) -> String {
    match targets {
        [first, rest @ ..] if rest.len() >= NAMED_TARGETS => {
            format!("{first} and {} more", rest.len())
        }
        few => few.join(" "),
    }
}

/// `2026-11-20 19:01` of the RFC 3339 text; that text itself where it is shorter.
fn moment(rfc3339: &str) -> String {
    let minutes = rfc3339.get(..16).unwrap_or(rfc3339);
    minutes.replace('T', " ")
}

#[cfg(test)]
mod tests {
    use blocklab_record::Status;
    use blocklab_units::Style;
    use clap::Parser;

    use super::*;
    use blocklab_args::{Cli, Command};

    fn table(lines: &[Line], width: Option<usize>) -> String {
        document(lines, width).print(Form::Text(Style::default()))
    }

    fn lines() -> Vec<Line> {
        let line = |id: &str, name: &str, measurements, iops: Option<f64>| Line {
            run: Listed {
                id: id.into(),
                started_at: "2026-11-20T19:01:42.5Z".into(),
                name: name.into(),
                study: name.into(),
                targets: vec!["/data/some/where/far/away/on/this/machine/file.bin".into()],
                status: Status::Complete,
                partial: measurements == 1,
                measurements,
            },
            fastest: iops.map(|iops| Fastest {
                case: "a".into(),
                direction: "read".into(),
                iops,
                bytes_per_s: iops * 4096.0,
            }),
        };
        vec![
            line("20261120-190142-k3f", "quick", 24, Some(56_554.4)),
            line("20261120-190143-012", "my-study: of a volume", 1, None),
        ]
    }

    /// The story: a run of 20,000 files had a line of 200,000 letters, in a pipe as well.
    #[test]
    fn of_many_targets_the_first_is_named() {
        let targets: Vec<String> = (0..20_000).map(|k| format!("d/x.{k}")).collect();
        assert_eq!(named(&targets), "d/x.0 and 19999 more");
        assert_eq!(named(&targets[..4]), "d/x.0 d/x.1 d/x.2 d/x.3");
    }

    #[test]
    fn columns_are_aligned() {
        assert_eq!(
            table(&lines(), None),
            "\
RUN                  STARTED (UTC)     STATUS      MOST IOPS  NAME                   TARGET
20261120-190142-k3f  2026-11-20 19:01  complete       56,554  quick                  /data/some/where/far/away/on/this/machine/file.bin
20261120-190143-012  2026-11-20 19:01  unfinished          -  my-study: of a volume  /data/some/where/far/away/on/this/machine/file.bin
"
        );
    }

    /// The story: lines of 130 to 190 columns wrapped into three on a terminal of 80, and no
    /// column was below its title.
    #[test]
    fn lines_fit_the_terminal() {
        for width in 30..250 {
            for line in table(&lines(), Some(width)).lines() {
                let long = line.chars().count();
                assert!(long <= width, "{width}: {long} {line}");
            }
        }
        let narrowest = table(&lines(), Some(40));
        assert!(
            narrowest.contains("20261120-190142-k3f     56,554"),
            "{narrowest}"
        );
        let narrow = table(&lines(), Some(80));
        assert!(narrow.contains("my-study: of a v…  …"), "{narrow}");
        assert!(
            narrow.contains("file.bin") && !narrow.contains("STARTED"),
            "{narrow}"
        );
    }

    #[test]
    fn a_run_is_listed_that_fits_all_that_is_given() {
        let nowhere = Store::open("/nowhere");
        let now: Timestamp = "2026-11-22T00:00:00Z".parse().expect("a moment");
        for (line, expected) in [
            ("", "quick, my-study: of a volume"),
            ("--name q*", "quick"),
            ("--name quic", ""),
            ("--study my*", "my-study: of a volume"),
            ("--target *file.bin", "quick, my-study: of a volume"),
            ("--target /data", ""),
            // The story: the runs of `run --target DIR` were not found by `--target DIR`.
            (
                "--target /data/some/where/far/away/on/this/machine/",
                "quick, my-study: of a volume",
            ),
            ("--status unfinished", "my-study: of a volume"),
            ("--status running", ""),
            (
                "--status complete,unfinished --name *volume",
                "my-study: of a volume",
            ),
            ("--status complete --name *volume", ""),
            ("--since 2d", "quick, my-study: of a volume"),
            ("--since 1d", ""),
            ("--since 2026-11-20", "quick, my-study: of a volume"),
            ("--since 2026-11-21", ""),
        ] {
            let words = ["blocklab", "list"].into_iter();
            let cli = Cli::try_parse_from(words.chain(line.split_whitespace())).expect(line);
            let Command::List(args) = cli.command else {
                unreachable!("that was typed")
            };
            let all = lines();
            let listed = all.iter().map(|line| &line.run);
            let listed = listed.filter(|run| is_wanted(&nowhere, run, &args.filter, now));
            let names: Vec<&str> = listed.map(|run| run.name.as_str()).collect();
            assert_eq!(names.join(", "), expected, "{line}");
        }
    }

    #[test]
    fn a_run_without_a_measurement_has_no_figure() {
        assert_eq!(cut_end("abcdef", 4), "abc…");
        assert_eq!(cut_start("abcdef", 4), "…def");
        assert_eq!(cut_start("abcd", 4), "abcd");
    }
}
