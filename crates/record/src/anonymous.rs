//! A record without anything that shows whose machine it was.

use std::collections::BTreeMap;

use blocklab_workload::{Address, Target};
use serde_json::{Map, Value};

use crate::{Fleet, Record, Requested, TargetFacts, TargetKind};

/// Mount options whose values reveal no place and no person. Only the name of any other option
/// stays.
const HARMLESS_OPTIONS: [&str; 14] = [
    "commit", "data", "discard", "errors", "logbsize", "logbufs", "proto", "rsize", "size",
    "stripe", "sunit", "swidth", "vers", "wsize",
];

/// Fields that may hold the name of a target as their only word. In others such a word is one of our
/// own: a file may be called `read` or `complete`.
const WORDS: [&str; 9] = [
    "address", "failure", "first", "last", "settings", "subject", "targets", "text", "why",
];

/// What takes the place of a path.
const PATH: &str = "(path)";

impl Record {
    /// The same figures without paths, serial numbers, names and notes of people: targets become
    /// `target1`, `target2`, mount points `mount1`, and any other path `(path)`, in every
    /// field. The name of the run, the words of its author and the text of the study stay only where
    /// `is_published` (a built-in study). Cases, jobs and pools become `case1`, `job1`, `pool1`, but for
    /// names that `is_public` knows: those of built-in studies and of loads that were given by flags.
    /// Models, sizes, kernels, instance types and times stay.
    ///
    /// # Panics
    /// Never: what a record becomes in JSON is read back as one.
    pub fn anonymous(&self, is_published: bool, is_public: impl Fn(&str) -> bool) -> Self {
        let mut bare = self.clone();
        bare.note = None;
        bare.rename_hosts();
        if !is_published {
            bare.requested.remove_texts();
            bare.rename_loads(&is_public);
        }
        let mut names = Names::default();
        for target in &mut bare.targets {
            strip(target, &mut names);
        }
        let mut whole = serde_json::from_str(&bare.to_json()).expect("a record is JSON");
        names.replace_in(&mut whole, false);
        serde_json::from_str(&whole.to_string()).expect("only texts have changed")
    }
}

impl Record {
    /// Takes the names of machines out, and numbers the hosts of a fleet.
    fn rename_hosts(&mut self) {
        self.environment.host_name = None;
        let Some(fleet) = &mut self.fleet else {
            return;
        };
        let mut names = Names::default();
        for host in &mut fleet.hosts {
            host.environment.host_name = None;
            host.name = names.stand_in(&host.name, "host");
        }
        for host in &mut fleet.lost {
            host.name = names.stand_in(&host.name, "host");
        }
        let jobs = self.measurements.iter_mut().flat_map(|one| &mut one.jobs);
        for host in jobs.filter_map(|job| job.host.as_mut()) {
            *host = names.stand_in(host, "host");
        }
        for text in fleet.failures_mut().chain(self.failure.as_mut()) {
            *text = names.replaced_in_words(text);
        }
        for target in &mut self.targets {
            if let Some((host, path)) = target.path.split_once(':') {
                target.path = format!("{}:{path}", names.stand_in(host, "host"));
            }
        }
    }

    /// Renames cases, jobs and pools, wherever they are named.
    fn rename_loads(&mut self, is_public: &dyn Fn(&str) -> bool) {
        let mut names = Names::default();
        let mut rename = |name: &mut String, kind| {
            if !name.is_empty() && !is_public(name) {
                *name = names.stand_in(name, kind);
            }
        };
        for case in self
            .requested
            .plan
            .iter_mut()
            .flat_map(|plan| &mut plan.cases)
        {
            rename(&mut case.name, "case");
            for job in &mut case.workload.jobs {
                rename(&mut job.name, "job");
                if let Some(label) = &mut job.rng_label {
                    rename(label, "stream");
                }
                if let Some(pooled) = &mut job.pool {
                    rename(&mut pooled.pool, "pool");
                }
            }
        }
        for pass in self.fleet.iter_mut().flat_map(|fleet| &mut fleet.passes) {
            rename(&mut pass.case, "case");
        }
        for measurement in &mut self.measurements {
            rename(&mut measurement.case, "case");
            for job in &mut measurement.jobs {
                rename(&mut job.name, "job");
                if let Some(pool) = &mut job.pool {
                    rename(pool, "pool");
                }
            }
        }
        let texts = self
            .notes
            .iter_mut()
            .flat_map(|note| [&mut note.subject, &mut note.text]);
        let fleet = self.fleet.iter_mut().flat_map(|fleet| fleet.failures_mut());
        for text in texts.chain(fleet).chain(self.failure.as_mut()) {
            *text = names.replaced_in_words(text);
        }
    }
}

impl Fleet {
    /// Why hosts did not end as planned, in words.
    fn failures_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let failed = self.hosts.iter_mut();
        let lost = self.lost.iter_mut().map(|host| &mut host.why);
        failed.filter_map(|host| host.failure.as_mut()).chain(lost)
    }
}

impl Requested {
    /// Removes the texts of whoever wrote the study. Its name becomes `study`.
    fn remove_texts(&mut self) {
        const NAME: &str = "study";
        self.native.clear();
        if let Some(plan) = &mut self.plan {
            plan.name = NAME.to_owned();
            plan.system = None;
            plan.description.clear();
        }
        self.name = NAME.to_owned();
        self.system = None;
        self.description.clear();
    }
}

/// Takes what identifies a target out of its facts, and remembers what takes the place of its names.
fn strip(target: &mut TargetFacts, names: &mut Names) {
    if let Some(system) = &mut target.file_system {
        let options = system.options.split(',').map(harmless);
        system.options = options.collect::<Vec<_>>().join(",");
        // Every machine has `/`.
        if system.mount_point.len() > 1 {
            names.stand_in(&system.mount_point, "mount");
        }
    }
    for device in &mut target.devices {
        device.serial = None;
    }
    let named = Target::parse(&target.path);
    let is_public =
        target.kind == TargetKind::Null || named.is_ok_and(|named| is_plain_offer(&named));
    if !is_public {
        let stand_in = names.stand_in(&target.path, "target");
        if let Some(address) = &target.address {
            names.known.insert(address.clone(), stand_in);
        }
    }
}

/// Whether everybody may know it: something that is sold, without a path or a word of the user's own.
fn is_plain_offer(target: &Target) -> bool {
    match target.address() {
        Some(Address::Sold(offer)) => {
            let own_words = [&offer.profile, &offer.host, &offer.volume_name];
            own_words.iter().all(|word| word.is_none())
        }
        _ => false,
    }
}

/// A mount option; without its value, unless that reveals nothing.
fn harmless(option: &str) -> &str {
    match option.split_once('=') {
        Some((name, _)) if !HARMLESS_OPTIONS.contains(&name) => name,
        _ => option,
    }
}

/// Texts that identify, each with what takes its place.
#[derive(Default)]
struct Names {
    known: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, usize>,
}

impl Names {
    /// The stand-in of a name, such as `host2`; `kind` is the word before its number.
    fn stand_in(&mut self, name: &str, kind: &'static str) -> String {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let stand_in = format!("{kind}{count}");
        self.known.insert(name.to_owned(), stand_in.clone());
        stand_in
    }

    /// Replaces names in a value. `is_words`: it is that of one of the [`WORDS`].
    fn replace_in(&self, value: &mut Value, is_words: bool) {
        match value {
            Value::String(text) => {
                // A path, or several words, are no word of our own.
                let has_names = text.contains(|c: char| ends_word(c) || c == '/');
                if is_words || has_names {
                    *text = self.replaced(text);
                }
            }
            Value::Array(values) => {
                for value in values {
                    self.replace_in(value, is_words);
                }
            }
            Value::Object(fields) => self.replace_in_fields(fields),
            _ => {}
        }
    }

    /// Replaces what is in the fields of an object.
    fn replace_in_fields(&self, fields: &mut Map<String, Value>) {
        for (name, value) in fields {
            match value {
                // A relative path looks like any other word: only the field shows what it is.
                Value::String(text) if name == "path" => {
                    *text = match self.known.get(text) {
                        Some(stand_in) => stand_in.clone(),
                        None if Target::is_path(text) => PATH.to_owned(),
                        None => self.replaced(text),
                    };
                }
                value => self.replace_in(value, WORDS.contains(&&**name)),
            }
        }
    }

    /// A text in which every word that identifies is replaced.
    fn replaced(&self, text: &str) -> String {
        if let Some(stand_in) = self.known.get(text) {
            return stand_in.clone();
        }
        let mut text = text.to_owned();
        for (known, stand_in) in self.paths() {
            text = text.replace(known, stand_in);
        }
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(ends_word) {
            let word = piece.trim_end_matches(ends_word);
            out.push_str(&self.replaced_word(word));
            out.push_str(&piece[word.len()..]);
        }
        out
    }

    /// A text of this program in which every name, also one of several words, is replaced where it is no
    /// part of a longer word. It is read once: a stand-in may be the name of something else.
    fn replaced_in_words(&self, text: &str) -> String {
        let known = self.known.iter().filter(|(name, _)| !name.is_empty());
        let mut known: Vec<_> = known.collect();
        known.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let joins =
            |sign: Option<char>| sign.is_some_and(|sign| sign.is_alphanumeric() || sign == '_');
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(sign) = rest.chars().next() {
            let found = known.iter().find_map(|(name, stand_in)| {
                let after = rest.strip_prefix(name.as_str())?;
                let is_part = joins(out.chars().next_back()) || joins(after.chars().next());
                (!is_part).then_some((stand_in.as_str(), after))
            });
            let (next, after) = found.unwrap_or_else(|| rest.split_at(sign.len_utf8()));
            out.push_str(next);
            rest = after;
        }
        out
    }

    /// The names that have a slash and so are no words of a sentence, the longest first: one may begin as
    /// another.
    fn paths(&self) -> Vec<(&String, &String)> {
        let mut paths: Vec<_> = self
            .known
            .iter()
            .filter(|(known, _)| known.len() > 3 && known.contains('/'))
            .collect();
        paths.sort_by_key(|(known, _)| std::cmp::Reverse(known.len()));
        paths
    }

    /// A word of a text, or what takes its place: a name that is known, or a path.
    fn replaced_word(&self, word: &str) -> String {
        let (bare, end) = match word.strip_suffix([':', '.', '!', '?']) {
            Some(bare) => (bare, &word[bare.len()..]),
            None => (word, ""),
        };
        if let Some(stand_in) = self.known.get(bare) {
            return format!("{stand_in}{end}");
        }
        // An address of a device file keeps its scheme.
        let (head, rest) = match bare.split_once(':') {
            Some((head @ ("sim" | "emu"), rest)) => (format!("{head}:"), rest),
            _ => (String::new(), bare),
        };
        let is_path = rest.len() > 1
            && ["/", "./", "../", "~/"]
                .iter()
                .any(|sign| rest.starts_with(sign));
        if is_path {
            format!("{head}{PATH}{end}")
        } else {
            word.to_owned()
        }
    }
}

/// Whether a character separates words: a path in a sentence may be in quotes or parentheses.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"'`,;()[]{}<>=".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockDevice, FileSystem, Note, NoteLevel};

    fn sample() -> Record {
        let text = include_str!("../golden/v2/everything.json");
        Record::from_json(text).expect("a golden record")
    }

    /// People paste records into tickets. What they want to keep private must be nowhere
    /// in the text, also not in a note, a failure or the text of the study.
    #[test]
    fn nothing_that_identifies_is_left() {
        let mut record = sample();
        record.requested.name = "acme-nightly".to_owned();
        record.requested.description = "What Acme needs".to_owned();
        record.requested.native =
            "name = \"acme-nightly\"\ntarget = \"/srv/acme/x\"\ntrace = '/home/bob/t.csv'\n"
                .to_owned();
        record.note = Some("for Bob".to_owned());
        record.failure = Some("cannot open /srv/acme/x: /home/bob/lost.".to_owned());
        let level = NoteLevel::Assumed;
        record.notes = vec![Note::new(
            level,
            "acme/rel",
            "acme/rel was read, ./bob/key too",
        )];
        record.targets = vec![TargetFacts {
            path: "/srv/acme/x".to_owned(),
            address: Some("acme/rel".to_owned()),
            file_system: Some(FileSystem {
                mount_point: "/srv/acme".to_owned(),
                options: "rw,vers=4.2,addr=10.1.2.3,username=bob".to_owned(),
                ..FileSystem::default()
            }),
            devices: vec![BlockDevice {
                serial: Some("S4EVNX0".to_owned()),
                ..BlockDevice::default()
            }],
            ..TargetFacts::default()
        }];
        let bare = record.anonymous(false, |_| false);
        let text = bare.to_json();
        for private in ["acme", "Acme", "bob", "Bob", "10.1.2.3", "S4EVNX0"] {
            assert!(!text.contains(private), "{private} is in {text}");
        }
        assert_eq!(bare.targets[0].path, "target1");
        let system = bare.targets[0].file_system.as_ref().expect("it is known");
        assert_eq!(system.options, "rw,vers=4.2,addr,username");
        assert_eq!(
            bare.failure.as_deref(),
            Some("cannot open target1: (path).")
        );
        for (bare, own) in bare.measurements.iter().zip(&record.measurements) {
            assert_eq!(bare.series, own.series, "no figure changes");
            assert_eq!(bare.jobs[0].directions, own.jobs[0].directions);
        }
    }

    /// The story: "the run's name is left out", but a run of `fio --name=acme`, a served volume and the rd,
    /// wd and sd of Vdbench kept it as the name of their cases, jobs and pools.
    #[test]
    fn the_names_of_loads_go_and_those_that_are_public_stay() {
        let mut record = sample();
        let mut second = record.measurements[0].clone();
        record.measurements[0].case = "acme nightly".to_owned();
        record.measurements[0].jobs[0].name = "acme".to_owned();
        record.measurements[0].jobs[0].pool = Some("acme-sd".to_owned());
        second.case = "seq1m-q8-read".to_owned();
        record.measurements.push(second);
        record.failure = Some("job acme ended early in acme nightly, acmes did not".to_owned());
        let bare = record.anonymous(false, |name| name.starts_with("seq1m"));
        let [first, .., last] = &bare.measurements[..] else {
            panic!("two are there");
        };
        assert_eq!((&*first.case, &*last.case), ("case1", "seq1m-q8-read"));
        assert_eq!(first.jobs[0].name, "job1");
        assert_eq!(first.jobs[0].pool.as_deref(), Some("pool1"));
        let failure = "job job1 ended early in case1, acmes did not";
        assert_eq!(bare.failure.as_deref(), Some(failure));
        assert_eq!(bare.requested.native, "");
    }

    /// The story: of the cases `case2` and `case1`, in this order, the second failed. Its record had
    /// the failure of `case1`: `case1` became `case2` and that became `case1`.
    #[test]
    fn a_stand_in_is_not_replaced_again() {
        let mut names = Names::default();
        for name in ["case2", "case1", "a b"] {
            names.stand_in(name, "case");
        }
        let text = "case1 failed, case2 and a b did not; case11 and äcase1 are others";
        assert_eq!(
            names.replaced_in_words(text),
            "case2 failed, case1 and case3 did not; case11 and äcase1 are others"
        );
    }

    /// The story: the failure of a merged run lost the name of its job, and those of its hosts kept it.
    #[test]
    fn the_failures_of_hosts_name_no_load() {
        let mut record = sample();
        record.measurements[0].jobs[0].name = "acme".to_owned();
        let failure = "job acme ended early".to_owned();
        record.fleet = Some(Box::new(Fleet {
            hosts: vec![crate::FleetHost {
                name: "db7".to_owned(),
                run: "a run".to_owned(),
                status: crate::Status::Failed,
                failure: Some(failure.clone()),
                environment: crate::Environment::default(),
                clock: None,
            }],
            lost: vec![crate::LostHost {
                name: "db8".to_owned(),
                why: failure,
            }],
            ..Fleet::default()
        }));
        let text = record.anonymous(false, |_| false).to_json();
        for private in ["acme", "db7", "db8"] {
            assert!(!text.contains(private), "{private} is in {text}");
        }
    }

    /// The story: the record of a run on a file called `complete` could not be made anonymous: its status
    /// became `target1`, and the program stopped with a panic.
    #[test]
    fn a_target_may_have_the_name_of_a_word_of_ours() {
        for name in ["complete", "read", "direct", "file"] {
            let mut record = sample();
            let whole = record.anonymous(true, |_| false);
            record.targets[0].path = name.to_owned();
            record.targets[0].kind = TargetKind::File;
            record.targets[0].address = Some(name.to_owned());
            let level = NoteLevel::Assumed;
            record.notes = vec![Note::new(level, name, format!("{name} was not empty"))];
            // A study that swept its targets.
            let last = record.measurements.last_mut().expect("it has some");
            last.settings = vec![("targets".to_owned(), format!("[\"{name}\"]"))];
            let bare = record.anonymous(true, |_| false);
            let target = &bare.targets[0];
            assert_eq!(
                (&*target.path, target.address.as_deref()),
                ("target1", Some("target1"))
            );
            let note = Note::new(level, "target1", "target1 was not empty");
            assert_eq!(bare.notes, [note]);
            let mut measurements = bare.measurements;
            let settings = std::mem::take(&mut measurements.last_mut().expect("as many").settings);
            assert_eq!(settings[0].1, "[\"target1\"]");
            assert_eq!(measurements, whole.measurements);
        }
    }

    /// The story: a job of sixteen and more files is kept with the first and the last of their names. Only
    /// the last one was replaced, and the program stopped with a panic.
    #[test]
    fn numbered_files_become_numbered_targets() {
        let mut record = sample();
        let names: Vec<String> = (0..20).map(|number| format!("a.0.{number}")).collect();
        let files = names.iter().map(|name| TargetFacts {
            path: name.clone(),
            kind: TargetKind::File,
            ..record.targets[0].clone()
        });
        record.targets = files.collect();
        let job = blocklab_workload::Job {
            targets: names,
            ..blocklab_workload::Job::default()
        };
        let case = blocklab_workload::Case::new("a", 1, vec![job]);
        record.requested.plan = Some(blocklab_workload::Plan::once("a", "", vec![case]));
        let bare = record.anonymous(true, |_| false);
        let plan = bare.requested.plan.expect("it has a plan");
        let targets = &plan.cases[0].workload.jobs[0].targets;
        assert_eq!(targets.len(), 20);
        let paths = bare.targets.iter().map(|target| &target.path);
        assert!(paths.eq(targets), "{targets:?}");
        assert_eq!(targets[19], "target20");
    }

    #[test]
    fn what_names_nobody_stays() {
        let mut record = sample();
        record.requested.name = "quick".to_owned();
        record.targets = vec![TargetFacts {
            path: "sim:gp3:1TiB@r5d.xlarge".to_owned(),
            kind: TargetKind::Model,
            ..TargetFacts::default()
        }];
        let bare = record.anonymous(true, |_| false);
        assert_eq!(bare.targets, record.targets);
        assert_eq!(bare.requested.name, "quick");
        assert_eq!(bare.environment, record.environment);
        assert_eq!(bare.overhead, record.overhead);
    }

    /// The name of the clock and the sources of the limits were replaced by `(path)` too: a record
    /// from a colleague no longer named the sources of its model.
    #[test]
    fn sources_stay_unless_they_are_paths() {
        let limits = |sources: [&str; 2]| {
            let sources = sources.map(|source| serde_json::json!({ "source": source }));
            serde_json::json!({ "limits": sources })
        };
        let guide = "EC2 user guide, ebs-volume-types.md";
        let mut value = limits([guide, "/home/bob/limits.ods"]);
        Names::default().replace_in(&mut value, false);
        assert_eq!(value, limits([guide, PATH]));
    }
}
