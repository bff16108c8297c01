//! `docs/json.md` names every command with `--json` and the version key that its output has.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use blocklab_proof::{Lab, good, json, root};
use blocklab_workload::Direction;
use serde_json::Value;

/// The rows of the table: commands, and the key with its number.
fn table() -> Vec<(String, String, u64)> {
    let page = fs::read_to_string(root().join("docs/json.md")).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let key = cells[2].trim_matches('`').to_owned();
        (
            cells[1].to_owned(),
            key,
            cells[3].parse().expect("a number"),
        )
    };
    rows.map(row).collect()
}

const STUDY: &str = "name = \"one\"\n[[case]]\nname = \"a\"\nengine = \"io_uring\"\n\
                     runtime = \"1s\"\ndepth = 4\n";

/// What a command prints, as JSON. What it keeps for the user it keeps in the lab.
fn shown(lab: &Lab, words: &[impl AsRef<OsStr> + Debug]) -> Value {
    let mut command = lab.command();
    let output = command
        .args(words)
        .env("XDG_DATA_HOME", lab.path())
        .output();
    let output = output.expect("it starts");
    let found = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {found}");
    json(&String::from_utf8(output.stdout).expect("text"))
}

/// What each command really prints, by the command's name on the page.
fn printed(lab: &Lab) -> Vec<(&'static str, Value)> {
    lab.write("study.toml", STUDY);
    let types = root().join("crates/catalog/tests/samples/describe-instance-types.json");
    let types = types.to_str().expect("a path");
    let run = "run study.toml -q --json --name one -t sim:gp3:1TiB@r5d.xlarge";
    let lines = [
        ("run", run),
        (
            "run",
            "run study.toml -q --json --name two -t sim:gp3:1TiB@r5d.xlarge",
        ),
        (
            "run --dry-run",
            "run study.toml --json --dry-run -t sim:gp3:1TiB@r5d.xlarge",
        ),
        ("run --list", "run --list --json"),
        ("run STUDY --list", "run study.toml --list --json"),
        ("show", "show --json"),
        ("list", "list --json"),
        ("history", "history --json"),
        (
            "compare RUN --against-history",
            "compare two --against-history --json",
        ),
        ("compare", "compare one two --json"),
        ("diagnose", "diagnose --json"),
        ("price", "price latest --json"),
        (
            "advise",
            "advise --need 1TiB,5000iops --vcpu 2 --no-simulation --json",
        ),
        ("export --format json", "export latest -f json"),
        ("devices", "devices --json"),
        ("catalog list", "catalog list --family i3 --json"),
        ("catalog show", "catalog show gp3:1TiB --json"),
        (
            "cdm",
            "cdm -q --json --target sim:gp3:1TiB@r5d.xlarge --output report.txt",
        ),
        ("import", "import cdm report.txt --json"),
    ];
    let one = |(name, line): &(&'static str, &str)| {
        let words: Vec<&str> = line.split(' ').collect();
        (*name, shown(lab, &words))
    };
    let mut all: Vec<(&str, Value)> = lines.iter().map(one).collect();
    let study = "run im4gn -q --json -t sim --runtime 1s --repeat 1 --no-save";
    all.push(("run` of a study", one(&("", study)).1));
    let sweep = "run calibrate -q --json -t sim:gp3:1TiB@r5d.xlarge --name sweep";
    one(&("", sweep));
    all.push((
        "calibrate",
        one(&("", "calibrate sweep --allow-simulated --json")).1,
    ));
    all.extend(printed_of_traces(lab));
    all.push((
        "catalog import",
        shown(lab, &["catalog", "import", "--json", types]),
    ));
    all
}

/// What the commands print of a recorded load and of a table of rates.
fn printed_of_traces(lab: &Lab) -> [(&'static str, Value); 6] {
    let [trace, table] = ["windows-shared-server.load.gz", "disk.iostat"].map(|name| {
        let path = root().join("proof/corpus/traces").join(name);
        path.to_str().expect("a path").to_owned()
    });
    let on = ["--on", "gp3:10GiB"];
    [
        ("trace import", "import", &trace, &["-o", "own.trace"][..]),
        ("trace show", "show", &trace, &on),
        ("trace fit", "fit", &trace, &on),
        ("trace model", "model", &trace, &[]),
        ("trace show` of a table", "show", &table, &[]),
        ("trace fit` of a table", "fit", &table, &on),
    ]
    .map(|(name, command, file, more)| {
        let words = [&["trace", command, file][..], more, &["--json"]].concat();
        (name, shown(lab, &words))
    })
}

/// The story: four forms carried a version and five were bare arrays; a script that read
/// `.[0].name` would have broken with the first field next to the list.
#[test]
fn every_form_has_the_version_that_the_page_names() {
    let lab = Lab::new();
    let rows = table();
    // Only a server of a volume prints these two.
    let mut seen = BTreeSet::from(["control_format", "observed_format"]);
    for (command, value) in printed(&lab) {
        let start = format!("`blocklab {command}");
        let row = rows.iter().find(|(commands, ..)| commands.contains(&start));
        let (_, key, number) = row.unwrap_or_else(|| panic!("{command} is not on the page"));
        assert_eq!(value[key].as_u64(), Some(*number), "{command}: {key}");
        seen.insert(key);
    }
    let named: BTreeSet<&str> = rows.iter().map(|(_, key, _)| key.as_str()).collect();
    assert_eq!(seen, named, "each form of the page is printed here");
}

/// The story: a path that is not UTF-8 ended these commands with an error, `calibrate` with a panic.
#[test]
fn a_path_that_is_no_text_is_in_json_as_people_see_it() {
    let lab = Lab::new();
    let name = OsStr::from_bytes(b"n\xffu");
    let types = root().join("crates/catalog/tests/samples/describe-instance-types.json");
    lab.write(name, fs::read(types).expect("a sample"));
    let words = ["catalog", "import", "--json"].map(OsStr::new);
    let imported = shown(&lab, &[&words[..], &[name]].concat());
    assert_eq!(imported["files"][0]["path"], "n\u{fffd}u");

    let run = "run calibrate -q --json -t sim:gp3:1TiB@r5d.xlarge --name sweep";
    shown(&lab, &run.split(' ').collect::<Vec<_>>());
    let words = ["calibrate", "sweep", "--allow-simulated", "--json", "-o"].map(OsStr::new);
    let device = OsStr::from_bytes(b"\xff.toml");
    let fitted = shown(&lab, &[&words[..], &[device]].concat());
    assert_eq!(fitted["written"], "\u{fffd}.toml");

    let store = OsStr::from_bytes(b"\xff");
    let run = lab.path().join(store).join("20261129-000000-k3f");
    fs::create_dir_all(&run).expect("a folder");
    fs::write(run.join("record.json"), "{").expect("written");
    let words = ["list", "--json", "--store"].map(OsStr::new);
    let listed = shown(&lab, &[&words[..], &[store]].concat());
    assert_eq!(listed["damaged"][0]["path"], "\u{fffd}/20261129-000000-k3f");
}

/// The help of every command says whether it has `--json`; the page names just these.
#[test]
fn the_page_names_every_command_with_json() {
    let lab = Lab::new();
    let rows = table();
    let named = |command: &str| {
        rows.iter()
            .any(|(commands, ..)| commands.contains(&format!("`blocklab {command}`")))
    };
    let mut seen = BTreeSet::new();
    for command in commands(&lab, &[]) {
        for path in with_inner(&lab, &command) {
            let words: Vec<&str> = path.split(' ').chain(["--help"]).collect();
            let help = good(lab.blocklab(words));
            let has = help
                .lines()
                .any(|line| line.trim_start().starts_with("--json"));
            assert_eq!(has, named(&path), "{path}");
            seen.extend(has.then_some(path));
        }
    }
    assert!(seen.len() > 10, "{seen:?}");
}

/// A command, or those below it.
fn with_inner(lab: &Lab, command: &str) -> Vec<String> {
    match command {
        // Their arguments are those of other tools.
        "fio" | "diskspd" | "vdbench" => Vec::new(),
        "catalog" | "fleet" | "k8s" | "trace" => {
            let inner = commands(lab, &[command]).into_iter();
            inner.map(|inner| format!("{command} {inner}")).collect()
        }
        other => vec![other.to_owned()],
    }
}

/// The names under `Commands:` of a help text.
fn commands(lab: &Lab, of: &[&str]) -> Vec<String> {
    let help = good(lab.blocklab(of.iter().copied().chain(["--help"])));
    let (_, list) = help.split_once("Commands:\n").expect("commands");
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    // Deeper lines go on with a description.
    let names = lines.filter_map(|line| line[2..].split(' ').next());
    let names = names.filter(|name| !["", "help"].contains(name));
    names.map(str::to_owned).collect()
}

/// Each list of permitted values in a schema that has the direction "trim".
fn directions_of(schema: &Value, found: &mut Vec<Vec<String>>) {
    match schema {
        Value::Object(fields) => {
            if let Some(values) = fields.get("enum").and_then(Value::as_array) {
                let names = values.iter().filter_map(Value::as_str).map(str::to_owned);
                found.extend(
                    Some(names.collect::<Vec<_>>())
                        .filter(|names| names.contains(&"trim".to_owned())),
                );
            }
            for value in fields.values() {
                directions_of(value, found);
            }
        }
        Value::Array(values) => {
            for value in values {
                directions_of(value, found);
            }
        }
        _ => {}
    }
}

/// The story: syncs are "sync" in the output, and the schemas permitted "flush", which nothing prints: a
/// validator refused the history of a fio job with `fsync=8`.
#[test]
fn the_schemas_permit_every_direction() {
    let mut found = Vec::new();
    for file in fs::read_dir(root().join("docs/schema")).expect("the schemas") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a schema");
        directions_of(&json(&text), &mut found);
    }
    assert_eq!(found.len(), 4, "{found:?}");
    for names in found {
        for direction in Direction::ALL {
            assert!(
                names.contains(&direction.to_string()),
                "{direction}: {names:?}"
            );
        }
        assert!(!names.contains(&"flush".to_owned()), "{names:?}");
    }
}
