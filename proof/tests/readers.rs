//! Readers for others: the Python file, its notebook, the views for DuckDB. Each is run on a real
//! run and compared with `export`.

use std::path::Path;
use std::process::{Command, Output};

use blocklab_proof::{Lab, good, root};

/// Two passes of every case of the first study, in no time.
const LOAD: &str = "run -q --repeat 2 --runtime 200ms --seed 3 --target sim:gp3:1TiB --store runs";

fn lab() -> Lab {
    let lab = Lab::new();
    good(lab.blocklab(LOAD.split(' ')));
    lab
}

/// Python with a module; nothing where it is not there.
fn python(module: &str) -> Option<Command> {
    let program = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let probe = Command::new(&program)
        .args(["-c", &format!("import {module}")])
        .output();
    if !probe.is_ok_and(|printed| printed.status.success()) {
        println!("skipped: no python3 with {module} here");
        return None;
    }
    Some(Command::new(program))
}

#[track_caller]
fn well(printed: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        printed.status.success(),
        "{}{}",
        text(&printed.stdout),
        text(&printed.stderr)
    );
    text(&printed.stdout)
}

fn run_folder(lab: &Lab) -> std::path::PathBuf {
    let runs = std::fs::read_dir(lab.path().join("runs")).unwrap();
    runs.map(|run| run.unwrap().path())
        .find(|path| path.is_dir())
        .expect("a run")
}

#[test]
fn the_python_reader_agrees_with_export() {
    let lab = lab();
    for (what, option) in [("totals", None), ("series", Some("--series"))] {
        let Some(mut python) = python("zlib") else {
            return;
        };
        let line = "export latest --store runs --format csv -o table.csv --force";
        good(lab.blocklab(line.split(' ').chain(option)));
        let printed = python
            .arg(root().join("proof/readers/same.py"))
            .args([
                run_folder(&lab).as_path(),
                &lab.path().join("table.csv"),
                Path::new(what),
            ])
            .output()
            .unwrap();
        assert!(well(&printed).contains("are the same"));
    }
}

#[test]
fn the_python_reader_refuses_what_is_no_run() {
    let Some(mut python) = python("zlib") else {
        return;
    };
    let lab = Lab::new();
    lab.write("other.json", "{\"fio version\": \"3.33\"}");
    lab.write("newer.json", "{\"format\": 99, \"measurements\": []}");
    let script = "import blocklab\nfor name in ('other.json', 'newer.json'):\n    try:\n        \
                  blocklab.load(name)\n    except blocklab.NotARun as error:\n        print(error)\n";
    let printed = python
        .args(["-c", script])
        .current_dir(lab.path())
        .env("PYTHONPATH", root().join("contrib/python"))
        .output()
        .unwrap();
    let ran = well(&printed);
    assert!(
        ran.contains("no record of blocklab") && ran.contains("format 99"),
        "{ran}"
    );
}

/// Every cell, in order, as a notebook's kernel would run them.
#[test]
fn the_cells_of_the_notebook_run() {
    let Some(mut python) = python("zlib") else {
        return;
    };
    let lab = lab();
    let script = "import json, sys\ncells = json.load(open(sys.argv[1]))['cells']\nassert len(cells) \
                  == 10\nstate = {}\nfor cell in cells:\n    if cell['cell_type'] == 'code':\n        \
                  exec(compile(''.join(cell['source']), cell['id'], 'exec'), state)\n\
                  print(len(state['run'].totals), len(state['seconds']))\n";
    let printed = python
        .args(["-c", script])
        .arg(root().join("contrib/python/run.ipynb"))
        .current_dir(lab.path())
        .env("PYTHONPATH", root().join("contrib/python"))
        .env("BLOCKLAB_STORE", lab.path().join("runs"))
        .env("MPLBACKEND", "agg")
        .output()
        .unwrap();
    assert!(well(&printed).starts_with("16 "), "{printed:?}");
}

/// The story: a field of `--json` was renamed, and every script that read it broke in silence.
#[test]
fn outputs_keep_their_schemas() {
    let Some(_) = python("jsonschema") else {
        return;
    };
    let lab = lab();
    let open_loop = "name = \"o\"\n[[case]]\nname = \"c\"\narrivals = \"poisson\"\nrate_iops = 500\n\
                     runtime = \"2s\"\n";
    lab.write("o.toml", open_loop);
    let (store, mut files) = (" --store runs", Vec::new());
    let runs = [
        "run -q o.toml --target sim:gp3:1TiB",
        "run -q --rw randrw --runtime 20ms --size 4MiB --target .",
        "run -q --case rand4k-q1-read --repeat 1 --runtime 20ms --target null",
    ];
    for (number, line) in runs.iter().enumerate() {
        good(lab.blocklab((line.to_string() + store).split(' ')));
        let shown = good(lab.blocklab(["show", "--json", "--store", "runs"]));
        let file = lab.path().join(format!("{number}.json"));
        std::fs::write(&file, shown).unwrap();
        files.push(file);
    }
    let list = lab.path().join("list");
    std::fs::write(
        &list,
        good(lab.blocklab(["list", "--json", "--store", "runs"])),
    )
    .unwrap();
    let lines = lab.path().join("lines");
    let line = runs[2].to_owned() + " --json-lines" + store;
    std::fs::write(&lines, good(lab.blocklab(line.split(' ')))).unwrap();
    for (kind, files, count) in [
        ("summary", files, "3"),
        ("list", vec![list], "1"),
        ("line", vec![lines], "3"),
    ] {
        let Some(mut python) = python("jsonschema") else {
            return;
        };
        let script = root().join("proof/readers/schemas.py");
        let printed = python.arg(script).arg(kind).args(&files).output().unwrap();
        assert_eq!(well(&printed).trim(), count, "{kind}");
    }
}

/// Schemas, and commands whose output each holds.
const OUTPUTS: [(&str, &[&str]); 8] = [
    (
        "advice",
        &[
            "advise --need 1TiB,10000iops,300MB/s,p99=5ms --instance r5d.2xlarge",
            "advise --need 500GiB,400000iops --no-simulation",
            "advise --migrate gp2:500GiB@m5.xlarge --no-simulation",
            "advise --run a --need iops=4000 --place ireland --no-simulation",
        ],
    ),
    (
        "comparison",
        &["compare a b", "compare b a c --fail-on slower,warning"],
    ),
    (
        "diagnosis",
        &[
            "diagnose a",
            "diagnose a --expect gp3:1TiB,iops=8000@r5d.xlarge --fail-on missed,p99>1ms",
            "diagnose c --expect gp2:1TiB",
        ],
    ),
    (
        "price",
        &["price a", "price a c local@i3.xlarge --currency EUR=0.92"],
    ),
    (
        "catalog-list",
        &["catalog list", "catalog list --family i3"],
    ),
    (
        "catalog-show",
        &[
            "catalog show st1:2TiB@m5.large",
            "catalog show local@i3.metal",
            "catalog show gcp/pd-ssd:1TiB",
            "catalog show azure/PremiumV2_LRS:1TiB",
        ],
    ),
    ("catalog-import", &["catalog import TYPES"]),
    ("history", &["history", "history --name a"]),
];

/// The story: dashboards read `compare`, `diagnose` and `price`, which had a version and no schema.
#[test]
fn judgements_and_the_catalog_keep_their_schemas() {
    let Some(_) = python("jsonschema") else {
        return;
    };
    let lab = Lab::new();
    let loads = "--rw randread,randrw --bs 8k --depth 1,32 --repeat 2 --runtime 300ms";
    for (name, more) in [
        ("a", "--target sim:gp3:1TiB,iops=6000@r5d.xlarge"),
        ("b", "--target sim:gp3:1TiB@r5d.xlarge"),
        ("c", "--target sim:gp3:1TiB@r5d.xlarge --rate 300"),
    ] {
        good(lab.blocklab(format!("run -q {loads} --name {name} {more}").split(' ')));
    }
    series_with_a_change_and_with_intervals(&lab);
    let types = root().join("crates/catalog/tests/samples/describe-instance-types.json");
    for (schema, lines) in OUTPUTS {
        let Some(mut python) = python("jsonschema") else {
            return;
        };
        python
            .arg(root().join("proof/readers/schemas.py"))
            .arg(schema);
        for (number, line) in lines.iter().enumerate() {
            let file = lab.path().join(format!("{schema}-{number}.json"));
            let mut command = lab.command();
            // What is imported is kept in the user's folder.
            command.env("XDG_DATA_HOME", lab.path());
            let printed = command
                .args(line.replace("TYPES", &types.to_string_lossy()).split(' '))
                .arg("--json")
                .output();
            let printed = printed.expect("it starts");
            // A gate that fails is printed all the same.
            assert!(
                matches!(printed.status.code(), Some(0 | 4)),
                "{line}: {printed:?}"
            );
            std::fs::write(&file, printed.stdout).unwrap();
            python.arg(file);
        }
        let printed = well(&python.output().unwrap());
        assert_eq!(printed.trim(), lines.len().to_string(), "{schema}");
    }
}

/// A volume that somebody slows down, and a target that is measured often enough.
fn series_with_a_change_and_with_intervals(lab: &Lab) {
    for rate in [900, 900, 700] {
        let device = format!(
            "[[volume]]\nkind = \"d\"\ncapacity = \"1TiB\"\n[[volume.cap]]\n\
             name = \"volume IOPS\"\nrate = \"{rate} IOPS\"\n[volume.service]\n\
             read = {{ base = \"600us\" }}\nwrite = {{ base = \"600us\" }}\n"
        );
        lab.write("d.toml", device);
        good(lab.blocklab(
            "run -q --seed 7 --rw randread --depth 4 --runtime 3s --target sim:./d.toml".split(' '),
        ));
    }
    for _ in 0..6 {
        let load = "run -q --rw randread --repeat 2 --runtime 20ms --target null";
        good(lab.blocklab(load.split(' ')));
    }
    let shown = good(lab.blocklab(["history", "--json"]));
    for word in ["\"regressed\"", "\"levels\": [\n", "\"limits\""] {
        assert!(shown.contains(word), "{word} in {shown}");
    }
}

#[test]
fn the_views_for_duckdb_answer() {
    let Some(mut python) = python("duckdb") else {
        return;
    };
    let lab = Lab::new();
    for run in 0..2 {
        let load = LOAD.replace("--store runs", "--store kept");
        good(lab.blocklab(load.split(' ')));
        let line = format!("export latest --store kept -o runs/{run}.parquet");
        std::fs::create_dir_all(lab.path().join("runs")).unwrap();
        good(lab.blocklab(line.split(' ')));
    }
    let script = "import duckdb, sys\nbase = duckdb.connect()\nbase.execute(open(sys.argv[1]).read())\n\
                  for view in ('figures', 'counted', 'medians', 'changes', 'fastest'):\n    \
                  print(view, base.execute(f'select count(*) from {view}').fetchone()[0])\n\
                  print(base.execute('select max(abs(iops_ratio - 1)) from changes').fetchone()[0])\n";
    let printed = python
        .args(["-c", script])
        .arg(root().join("contrib/duckdb/views.sql"))
        .current_dir(lab.path())
        .output()
        .unwrap();
    let ran = well(&printed);
    let expected = "figures 32\ncounted 32\nmedians 16\nchanges 16\nfastest 8\n0.0\n";
    assert_eq!(ran, expected, "the same seed gives the same figures");
}

/// Packs a program of no use, with these variables, and prints what its packages say of themselves.
fn packed(variable: Option<(&str, &str)>) -> Option<String> {
    let mut python = python("zipfile")?;
    let lab = Lab::new();
    let out = lab.path().join("dist");
    for folder in ["tree/man", "tree/completions"] {
        std::fs::create_dir_all(out.join(folder)).unwrap();
    }
    std::fs::write(out.join("blocklab"), "a program").unwrap();
    for shell in ["bash", "zsh", "fish"] {
        std::fs::write(out.join(format!("tree/completions/blocklab.{shell}")), "").unwrap();
    }
    for name in [
        "GITHUB_REPOSITORY",
        "GITHUB_SERVER_URL",
        "BLOCKLAB_REPOSITORY",
    ] {
        python.env_remove(name);
    }
    let packed = python
        .arg("scripts/package.py")
        .arg("x86_64-unknown-linux-gnu")
        .arg(&out)
        .current_dir(root())
        .env("SOURCE_DATE_EPOCH", "1795000000")
        .envs(variable)
        .output();
    well(&packed.expect("it starts"));
    let script = "import glob, json, re, subprocess, sys, tarfile, zipfile\n\
                  wheel = glob.glob('dist/*.whl')[0]\n\
                  sys.path.insert(0, wheel)\nimport blocklab\nassert blocklab.__file__.startswith(wheel)\n\
                  packed = zipfile.ZipFile(wheel)\n\
                  [name] = [n for n in packed.namelist() if n.endswith('METADATA')]\n\
                  head, _, page = packed.read(name).decode().partition('\\n\\n')\n\
                  print(head)\n\
                  links = re.findall(r'\\]\\(([^)]+)\\)', page)\n\
                  print('dead links:', len(links) < 10 or [l for l in links if not re.match('https?:|#', l)])\n\
                  image = tarfile.open(glob.glob('dist/*.oci.tar')[0])\n\
                  texts = [image.extractfile(m).read() for m in image.getmembers() if m.isfile()]\n\
                  [config] = [json.loads(t) for t in texts if b'diff_ids' in t]\n\
                  print(*config['config']['Labels'].items(), sep='\\n')\n\
                  for deb in glob.glob('dist/*.deb'):\n    \
                  print(subprocess.run(['dpkg-deb', '--field', deb], capture_output=True, text=True).stdout)\n";
    let mut python = self::python("zipfile").expect("it was there");
    let printed = python.args(["-c", script]).current_dir(lab.path()).output();
    Some(well(&printed.unwrap()))
}

/// The story: the reader had to be copied by hand, and on the page of the package every link of the
/// README was dead. A release names the place that its workflow runs for, and a publisher any other.
#[test]
fn the_wheel_holds_the_reader_and_the_packages_name_their_place() {
    let of_workflow = ("GITHUB_REPOSITORY", "acme/blocklab");
    let Some(printed) = packed(Some(of_workflow)) else {
        return;
    };
    for part in [
        "Project-URL: Source, https://github.com/acme/blocklab\n",
        "Classifier: Topic :: System :: Benchmark\n",
        "dead links: []\n",
        "('org.opencontainers.image.source', 'https://github.com/acme/blocklab')",
        "'org.opencontainers.image.revision'",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let own = ("BLOCKLAB_REPOSITORY", "https://git.acme.test/blocklab/");
    let printed = packed(Some(own)).expect("it was there");
    for part in [
        "Project-URL: Source, https://git.acme.test/blocklab\n",
        "('org.opencontainers.image.url', 'https://git.acme.test/blocklab')",
        "dead links: []\n",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

/// The story: `https://example.org/blocklab` was in the manifest for want of an address, one step
/// from the page of a package. What nobody gave is not printed.
#[test]
fn packages_without_a_place_name_none() {
    let Some(printed) = packed(None) else {
        return;
    };
    for part in [
        "://",
        "example.org",
        "Project-URL",
        "Homepage",
        "image.source",
    ] {
        assert!(!printed.contains(part), "{part}: {printed}");
    }
}
