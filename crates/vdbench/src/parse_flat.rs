//! `vdbench parseflat`: columns of a flat file as a table that spreadsheets read.
//!
//! ```text
//! parseflat -i DIR|FILE [-o FILE] -c COLUMN... [-a] [-f COLUMN VALUE...] [-t] [-q]
//! ```

use super::command::refused;
use super::error::Mistake;

/// What `parseflat` is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParseFlat {
    /// The flat file, or the directory of reports that holds it.
    pub input: String,
    /// Where the table goes; `None`: standard output.
    pub output: Option<String>,
    /// The columns in the order of the table, in any case; `all` alone is all of them.
    columns: Vec<String>,
    /// Pairs of a column and the value that a row must have there.
    filters: Vec<(String, String)>,
    /// The rows of averages in place of those of intervals.
    averages: bool,
    /// Tabs between the columns in place of commas.
    tabs: bool,
}

/// Reads the arguments of `parseflat`; `None`: they are those of a run.
///
/// # Errors
/// [`Mistake`] for an option that is unknown or lacks its value, and without `-i` or `-c`.
pub fn parse_flat(arguments: &[String]) -> Result<Option<ParseFlat>, Mistake> {
    let Some((program, options)) = arguments.split_first() else {
        return Ok(None);
    };
    if !matches!(program.to_ascii_lowercase().as_str(), "parse" | "parseflat") {
        return Ok(None);
    }
    let mut words = separated(options).into_iter().peekable();
    let mut flat = ParseFlat::default();
    while let Some(word) = words.next() {
        // The values of an option end where the next option begins.
        let mut values = Vec::new();
        while let Some(value) = words.next_if(|next| !next.starts_with('-') || next == "-") {
            values.push(value);
        }
        match word.as_str() {
            "-i" => flat.input = only(&word, values)?,
            "-o" => flat.output = Some(only(&word, values)?).filter(|name| name != "-"),
            "-c" => flat.columns.append(&mut values),
            "-f" => flat.filters.append(&mut pairs(values)?),
            "-a" => flat.averages = true,
            "-t" => flat.tabs = true,
            // A file of labels and silence change nothing in the table.
            "-l" | "-q" => {}
            _ => {
                return refused(
                    &word,
                    "there is no such option of parseflat; -i -o -c -f -a -t -q are known",
                );
            }
        }
    }
    if flat.input.is_empty() {
        return refused("parseflat", "-i must name the flat file, as in -i output");
    }
    if flat.columns.is_empty() {
        return refused(
            "parseflat",
            "-c must name columns, as in -c run rate resp; -c all takes all",
        );
    }
    Ok(Some(flat))
}

impl ParseFlat {
    /// The table made of the text of a flat file: a line of column names as they were asked for, then
    /// the rows.
    ///
    /// # Errors
    /// [`Mistake`] when the text has no such column, or no row is left.
    pub fn table(&self, text: &str) -> Result<String, Mistake> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        // The line of the names is the first that begins with a blank.
        let Some(head) = lines.find(|line| line.starts_with(' ')) else {
            return refused(&self.input, "it is no flat file: no line names its columns");
        };
        let names: Vec<&str> = head.split_whitespace().collect();
        let wanted: Vec<&str> = match self.columns.as_slice() {
            [all] if all == "all" => names.clone(),
            columns => columns.iter().map(String::as_str).collect(),
        };
        let shown = places(&names, &wanted)?;
        let interval = place(&names, "interval")?;
        let filtered: Vec<&str> = self.filters.iter().map(|(name, _)| &**name).collect();
        let filtered = places(&names, &filtered)?;
        let between = if self.tabs { "\t" } else { "," };
        let mut table = wanted.join(between) + "\n";
        let mut rows = 0;
        for line in lines.filter(|line| !line.starts_with('*')) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            // The last row of a run that goes on may be written only in part.
            if cells.len() != names.len() || cells[interval].starts_with("avg") != self.averages {
                continue;
            }
            let values = self.filters.iter().map(|(_, value)| value);
            let mut filters = filtered.iter().zip(values);
            if filters.all(|(&place, value)| cells[place].eq_ignore_ascii_case(value)) {
                let row: Vec<&str> = shown.iter().map(|&place| cells[place]).collect();
                table.push_str(&row.join(between));
                table.push('\n');
                rows += 1;
            }
        }
        if rows == 0 {
            return refused(
                "parseflat",
                "no row of the flat file is what -a and -f ask for",
            );
        }
        Ok(table)
    }
}

/// The options with their values behind them: `-frun` is `-f run`.
fn separated(options: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    for option in options {
        match option.char_indices().nth(2) {
            Some((second, _)) if option.starts_with('-') => {
                words.push(option[..second].to_owned());
                words.push(option[second..].to_owned());
            }
            _ => words.push(option.clone()),
        }
    }
    words
}

fn only(option: &str, values: Vec<String>) -> Result<String, Mistake> {
    match <[String; 1]>::try_from(values) {
        Ok([value]) => Ok(value),
        Err(_) => refused(option, "one name must follow"),
    }
}

/// The columns that rows are filtered by, each with the value that it must have.
fn pairs(values: Vec<String>) -> Result<Vec<(String, String)>, Mistake> {
    if values.is_empty() || values.len() % 2 == 1 {
        return refused("-f", "pairs must follow, as in -f run rd1");
    }
    let pairs = values.chunks_exact(2);
    Ok(pairs
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect())
}

fn places(names: &[&str], wanted: &[&str]) -> Result<Vec<usize>, Mistake> {
    wanted.iter().map(|name| place(names, name)).collect()
}

/// The index of a column.
fn place(names: &[&str], wanted: &str) -> Result<usize, Mistake> {
    let found = names
        .iter()
        .position(|name| name.eq_ignore_ascii_case(wanted));
    match found {
        Some(place) => Ok(place),
        None => refused(
            wanted,
            format!(
                "the flat file has no such column; it has {}",
                names.join(" ")
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAT: &str = "<title>Vdbench out/flatfile.html</title><pre>\n*\n* rate : I/O rate\n* \n\
                        \x20        tod Run Interval rate resp\n\
                        10:00:01.000 rd1 1 100 0.5 \n\
                        10:00:02.000 rd1 2 120 0.4 \n\
                        10:00:02.010 rd1  avg_2-2 120 0.4 \n\
                        10:00:03.000 rd2 1 200 0.7 \n\
                        10:00:03.010 rd2  avg_1-1 200 0.7 \n\
                        10:00:04.000 rd3 1\n";

    fn table(line: &str) -> Result<String, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let asked = parse_flat(&words).map_err(|mistake| mistake.to_string())?;
        let asked = asked.expect("a line of parseflat");
        asked.table(FLAT).map_err(|mistake| mistake.to_string())
    }

    /// Scripts call `vdbench parseflat` when a run has ended, and stopped there: it was refused.
    #[test]
    fn columns_become_a_table() {
        let lines = [
            (
                "parseflat -i out -c Run rate -a",
                "Run,rate\nrd1,120\nrd2,200\n",
            ),
            (
                "parse -iout -crun -c interval -c RESP",
                "run,interval,RESP\nrd1,1,0.5\nrd1,2,0.4\nrd2,1,0.7\n",
            ),
            (
                "parseflat -i out -c rate resp -f run RD1 interval 2 -o x -q",
                "rate,resp\n120,0.4\n",
            ),
            (
                "parseflat -t -i out -a -c all -frun rd2",
                "tod\tRun\tInterval\trate\tresp\n10:00:03.010\trd2\tavg_1-1\t200\t0.7\n",
            ),
        ];
        for (line, expected) in lines {
            assert_eq!(table(line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn mistakes_say_what_would_work() {
        let lines = [
            ("parseflat -c rate", "-i must name the flat file"),
            ("parseflat -i out", "-c must name columns"),
            ("parseflat -i -c rate", "-i: one name must follow"),
            ("parseflat -i out -c rate -f run", "pairs must follow"),
            (
                "parseflat -i out -c read_rate",
                "it has tod Run Interval rate resp",
            ),
            (
                "parseflat -i out -c rate -f run rd9",
                "no row of the flat file",
            ),
            (
                "parseflat -x -i out",
                "there is no such option of parseflat",
            ),
        ];
        for (line, expected) in lines {
            let error = table(line).unwrap_err();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn other_arguments_are_those_of_a_run() {
        for line in ["-f parmfile", "compare a b", ""] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(parse_flat(&words), Ok(None), "{line}");
        }
    }
}
