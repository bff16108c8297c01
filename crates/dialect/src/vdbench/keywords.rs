//! Every keyword, one row each: its section, what is done with it, what it means.

/// Where a keyword may stand, in the order in which sections come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    General,
    Host,
    Storage,
    Workload,
    Run,
}

impl Section {
    pub(super) const ALL: [Self; 5] = [
        Self::General,
        Self::Host,
        Self::Storage,
        Self::Workload,
        Self::Run,
    ];

    pub(super) const fn name(self) -> &'static str {
        [
            "general",
            "host (hd)",
            "storage (sd)",
            "workload (wd)",
            "run (rd)",
        ][self as usize]
    }
}

/// What is done with a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Support {
    /// As in the original.
    Exact,
    /// Nearly; the row says how.
    Near,
    /// Has nothing to say here; a Note tells the user so.
    Ignored,
    /// Refused with a reason.
    Refused,
}

impl Support {
    pub(super) const fn name(self) -> &'static str {
        ["exact", "near", "ignored", "refused"][self as usize]
    }
}

/// One keyword in one section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keyword {
    pub(super) section: Section,
    pub(super) name: &'static str,
    pub(super) support: Support,
    pub(super) meaning: &'static str,
}

macro_rules! rows {
    ($($section:ident $support:ident $name:literal $meaning:literal)*) => {
        &[$(Keyword {
            section: Section::$section,
            name: $name,
            support: Support::$support,
            meaning: $meaning,
        }),*]
    };
}

#[rustfmt::skip]
pub(super) const KEYWORDS: &[Keyword] = rows! {
    General Ignored "abort_failed_skew" "the skew report tells"
    General Ignored "auxreport"         "reports of a Java class"
    General Near    "compratio"         "what is written compresses so well; by zeros behind noise in each 4 KiB"
    General Near    "compression"       "the same in per cent"
    General Ignored "compressionseed"   "the seed of the run decides"
    General Refused "concatenatesds"    "one device made of all storage definitions; a workload over several of them comes near"
    General Ignored "create_anchors"    "of file system workloads"
    General Near    "data_errors"       "1: end at the first failed operation, else at the 1,000th in a row; with validation, wrong blocks that end the run (50)"
    General Ignored "debug"             "switches of the original's own code"
    General Near    "dedupratio"        "what is written repeats itself so often"
    General Ignored "dedupunit"         "size of what repeats: 4 KiB here"
    General Ignored "dedupsets"         "how many different repeated blocks: 64 here"
    General Ignored "deduphotsets"      "uneven use of the sets"
    General Ignored "dedupflipflop"     "changing duplicates on rewriting"
    General Exact   "startcmd"          "a command before all runs"
    General Exact   "start_cmd"         "the same"
    General Exact   "endcmd"            "a command after all runs"
    General Exact   "end_cmd"           "the same"
    General Exact   "formatsds"         "yes: format all files again; no: never"
    General Exact   "formatxfersize"    "block size of SD_format (128k)"
    General Ignored "heartbeat_error"   "of hosts that do not answer"
    General Exact   "histogram"         "its buckets: (default,50u,100u,1m,2s)"
    General Ignored "ios_per_jvm"       "of Java"
    General Exact   "journal"           "yes, recover, only, ignore_pending, maponly, noflush as -j -jr -jro -jri -jm -jn; or a directory for all journals"
    General Exact   "loop"              "all runs again: a number of times, or for so long (60s, 5m, 1h)"
    General Ignored "messagescan"       "reading /var/log"
    General Ignored "misc"              "of the original's own code"
    General Ignored "monitor"           "a file whose change ends the run; Ctrl-C does"
    General Ignored "pattern"           "what is written: noise here"
    General Ignored "pattern_buffer"    "of Java"
    General Ignored "port"              "of hosts"
    General Ignored "psrset"            "of Solaris"
    General Ignored "report"            "all reports are written"
    General Ignored "report_run_totals" "totals over all runs"
    General Ignored "showlba"           "every offset in a file"
    General Refused "swat"              "the original dropped it too"
    General Ignored "timeout"           "of hosts"
    General Ignored "unix2windows"      "paths for Windows"
    General Exact   "validate"          "data validation: yes, no, or read_after_write, no_preread, time, as -v -vr -vw -vt"
    Host    Exact   "hd"                "its name; only this host"
    Host    Exact   "system"            "its address; only this host"
    Host    Ignored "vdbench"           "where the original lies"
    Host    Ignored "shell"             "how it is reached"
    Host    Ignored "user"              "who reaches it"
    Host    Ignored "jvms"              "of Java"
    Host    Refused "clients"           "several hosts"
    Host    Refused "mount"             "mounting for the run"
    Storage Exact   "sd"                "its name, or default"
    Storage Exact   "lun"               "a file, a device, or a model: sim:ADDRESS, emu:ADDRESS"
    Storage Exact   "host"              "which hosts; only this one"
    Storage Exact   "hd"                "the same"
    Storage Exact   "count"             "(start,n): so many of them, numbered"
    Storage Exact   "size"              "bytes; of a file that is made, its size"
    Storage Exact   "threads"           "operations in flight (8), shared by its workloads"
    Storage Exact   "hitarea"           "bytes at the beginning that hits go to (1m)"
    Storage Exact   "offset"            "added to every offset"
    Storage Exact   "align"             "offsets are multiples of it"
    Storage Exact   "openflags"         "o_direct, directio, o_sync, o_dsync, o_rsync; fsync at the end has no effect"
    Storage Exact   "range"             "(low,high) in per cent or bytes"
    Storage Exact   "journal"           "directory of its journal"
    Storage Refused "replay"            "traces"
    Storage Refused "streams"           "belongs to the workload"
    Storage Ignored "resetlun"          "SCSI resets"
    Storage Ignored "resetbus"          "SCSI resets"
    Storage Ignored "kstat"             "of Solaris"
    Storage Ignored "instance"          "of Solaris"
    Storage Near    "dedupratio"        "as in general, for this one"
    Storage Ignored "dedupunit"         "as in general"
    Storage Ignored "dedupsets"         "as in general"
    Storage Ignored "deduphotsets"      "as in general"
    Storage Ignored "dedupflipflop"     "as in general"
    Workload Exact  "wd"                "its name, or default"
    Workload Exact  "sd"                "which storage: names, sd*, (sd1-sd9)"
    Workload Exact  "skew"              "its share of the rate, in per cent"
    Workload Exact  "xfersize"          "size (4k), mix (4k,10,8k,90), or (min,max,align)"
    Workload Exact  "rdpct"             "reads, in per cent (100)"
    Workload Exact  "readpct"           "the same"
    Workload Exact  "wrpct"             "writes, in per cent"
    Workload Exact  "writepct"          "the same"
    Workload Exact  "rhpct"             "share of the reads that go to the hit area"
    Workload Exact  "whpct"             "share of the writes that go to the hit area"
    Workload Exact  "range"             "(low,high) in per cent or bytes"
    Workload Near   "hotband"           "(low,high): a range of the target, its blocks used unevenly (80/20)"
    Workload Near   "seekpct"           "random share (100), seq, seqnz, eof, poisson; the last two approximately"
    Workload Near   "stride"            "(min,max): how far the next one is; of different ones the mean"
    Workload Exact  "streams"           "so many sequential streams, each in its part"
    Workload Exact  "iorate"            "a rate of its own, besides the run's"
    Workload Near   "priority"          "who is served first; of fixed rates before the rest"
    Workload Refused "threads"          "only with concatenatesds"
    Workload Exact  "host"              "only this one"
    Workload Exact  "hd"                "the same"
    Workload Exact  "openflags"         "as of sd"
    Workload Refused "user"             "a Java class"
    Run     Exact   "rd"                "its name, or default"
    Run     Exact   "wd"                "which workloads: names, wd*"
    Run     Exact   "sd"                "which storage instead; single, range, setsofN: a run for each"
    Run     Exact   "iorate"            "a number, max, curve, a list; n%: of the run before"
    Run     Exact   "curve"             "points in per cent (10,50,70,80,90,100)"
    Run     Exact   "stopcurve"         "no further point above so many ms"
    Run     Exact   "elapsed"           "counted seconds (30)"
    Run     Exact   "interval"          "seconds of a report line (1)"
    Run     Exact   "warmup"            "seconds before the counted ones"
    Run     Exact   "pause"             "seconds after it"
    Run     Near    "maxdata"           "end after so many bytes, below 100 so many times the size; each device its share"
    Run     Near    "maxdataread"       "of reads: as maxdata"
    Run     Near    "maxdatawritten"    "of writes: as maxdata"
    Run     Near    "distribution"      "exponential, uniform, deterministic; variable and spike take turns through the rates"
    Run     Exact   "openflags"         "as of sd"
    Run     Refused "replay"            "traces"
    Run     Exact   "startcmd"          "a command before it"
    Run     Exact   "start_cmd"         "the same"
    Run     Exact   "endcmd"            "a command after it"
    Run     Exact   "end_cmd"           "the same"
    Run     Ignored "format"            "of file system workloads"
    Run     Exact   "forxfersize"       "a run for each"
    Run     Exact   "forthreads"        "a run for each"
    Run     Exact   "forrdpct"          "a run for each"
    Run     Exact   "forrhpct"          "a run for each"
    Run     Exact   "forwhpct"          "a run for each"
    Run     Exact   "forseekpct"        "a run for each"
    Run     Exact   "forhitarea"        "a run for each"
    Run     Near    "forcompratio"      "a run for each"
    Run     Near    "forcompression"    "a run for each"
    Run     Exact   "xfersize"          "as forxfersize"
    Run     Exact   "threads"           "as forthreads"
    Run     Exact   "rdpct"             "as forrdpct"
    Run     Exact   "rhpct"             "as forrhpct"
    Run     Exact   "whpct"             "as forwhpct"
    Run     Exact   "seekpct"           "as forseekpct"
    Run     Exact   "hitarea"           "as forhitarea"
    Run     Near    "compratio"         "as forcompratio"
    Run     Near    "compression"       "as forcompression"
};

/// What an abbreviation stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    One(Keyword),
    /// Names of all that it could be.
    Several(Vec<&'static str>),
    Nothing {
        /// A name that was perhaps meant.
        near: Option<&'static str>,
        /// Another section that has it.
        elsewhere: Option<Section>,
    },
}

/// Where the original decides what an abbreviation of two keywords means.
const SHORT: &[(&str, &str)] = &[
    ("co", "compratio"),
    ("com", "compratio"),
    ("comp", "compratio"),
    ("compr", "compratio"),
    ("forc", "forcompratio"),
    ("forco", "forcompratio"),
    ("forcom", "forcompratio"),
    ("forcomp", "forcompratio"),
    ("forcompr", "forcompratio"),
    ("di", "distribution"),
    ("forr", "forrdpct"),
    ("maxd", "maxdata"),
];

/// The keyword of a section that a word abbreviates. `sd`, `wd` and `rd` are never abbreviations.
pub(super) fn find(section: Section, word: &str) -> Found {
    let here = || KEYWORDS.iter().filter(|row| row.section == section);
    if let Some(row) = here().find(|row| row.name == word) {
        return Found::One(*row);
    }
    let short = SHORT.iter().find(|(short, _)| *short == word);
    let short = short.and_then(|(_, name)| here().find(|row| row.name == *name));
    if let Some(row) = short {
        return Found::One(*row);
    }
    let names: Vec<&Keyword> = here().filter(|row| row.name.starts_with(word)).collect();
    let same = |row: &&Keyword| row.name.replace('_', "") == names[0].name.replace('_', "");
    match names[..] {
        [row] => Found::One(*row),
        [row, ..] if names.iter().all(same) => Found::One(*row),
        [] => Found::Nothing {
            near: crate::nearest::nearest(word, here().map(|row| row.name)),
            elsewhere: KEYWORDS
                .iter()
                .find(|row| row.name == word)
                .map(|row| row.section),
        },
        _ => Found::Several(names.iter().map(|row| row.name).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(section: Section, word: &str, expected: &str) {
        match find(section, word) {
            Found::One(row) => assert_eq!(row.name, expected, "{word}"),
            other => panic!("{word}: {other:?}"),
        }
    }

    #[test]
    fn abbreviations_are_understood() {
        for (word, expected) in [
            ("io", "iorate"),
            ("el", "elapsed"),
            ("in", "interval"),
            ("xf", "xfersize"),
            ("forx", "forxfersize"),
            ("fort", "forthreads"),
            ("forr", "forrdpct"),
            ("rd", "rd"),
            ("th", "threads"),
            ("wa", "warmup"),
            ("en", "endcmd"),
        ] {
            check(Section::Run, word, expected);
        }
        assert!(matches!(find(Section::Run, "st"), Found::Several(_)));
        check(Section::Workload, "xf", "xfersize");
        check(Section::Storage, "th", "threads");
    }
}
