use anyhow::Result;
use blocklab_record::Status;
use blocklab_store::{Listed, Store};

use crate::args::ListArgs;
use crate::terminal;

/// Prints one line a run, the oldest first, and warns of folders that are no runs.
pub fn list(args: &ListArgs, store: &Store) -> Result<()> {
    let listing = store.list();
    for damaged in &listing.damaged {
        terminal::warn(&format!("{}: {}", damaged.path.display(), damaged.why));
    }
    if args.json {
        let mut json = serde_json::to_string_pretty(&listing.runs)?;
        json.push('\n');
        return terminal::print(json);
    }
    if listing.runs.is_empty() && listing.damaged.is_empty() {
        let root = store.root().display();
        return terminal::print(format!(
            "There are no runs in {root} yet: `blocklab run` makes one.\n"
        ));
    }
    terminal::print(table(&listing.runs))
}

const HEAD: [&str; 6] = [
    "RUN",
    "STARTED (UTC)",
    "STUDY",
    "STATUS",
    "MEASUREMENTS",
    "TARGET",
];

/// The target comes last, since only it can be long.
fn table(runs: &[Listed]) -> String {
    let head = HEAD.map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(runs.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..5).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(&widths) {
            text.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(&row[5]);
        text.push('\n');
    }
    text
}

fn row(run: &Listed) -> [String; 6] {
    let status = match (run.partial, run.status) {
        (true, _) => "unfinished",
        (_, Status::Complete) => "complete",
        (_, Status::Interrupted) => "interrupted",
        (_, Status::Failed) => "failed",
    };
    [
        run.id.clone(),
        moment(&run.started_at),
        run.name.clone(),
        status.to_owned(),
        run.measurements.to_string(),
        run.targets.join(" "),
    ]
}

/// `2026-11-20 19:01` of the RFC 3339 text; that text itself where it is shorter.
fn moment(rfc3339: &str) -> String {
    let minutes = rfc3339.get(..16).unwrap_or(rfc3339);
    minutes.replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let run = |id: &str, name: &str, measurements| Listed {
            id: id.into(),
            started_at: "2026-11-20T19:01:42.5Z".into(),
            name: name.into(),
            targets: vec!["/data/.blocklab".into()],
            status: Status::Complete,
            partial: measurements == 1,
            measurements,
        };
        let runs = [run("a-k3f", "quick", 24), run("b-012", "my-study", 1)];
        assert_eq!(
            table(&runs),
            "\
RUN    STARTED (UTC)     STUDY     STATUS      MEASUREMENTS  TARGET
a-k3f  2026-11-20 19:01  quick     complete    24            /data/.blocklab
b-012  2026-11-20 19:01  my-study  unfinished  1             /data/.blocklab
"
        );
    }
}
