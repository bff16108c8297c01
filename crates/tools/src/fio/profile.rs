//! `--profile`: loads that are built in.

use anyhow::{Result, bail};
use blocklab_fio::{Input, Place, Section, Setting};

use super::outside::memory_kib;

/// The jobs of tiobench, with their own options: each is one of the file's, under another name.
const OPTIONS: [(&str, &str); 5] = [
    ("block", "bs"),
    ("numruns", "loops"),
    ("dir", "directory"),
    ("threads", "numjobs"),
    ("size", "size"),
];

/// The sections of the profile that the command line asks for; nothing: it asks for none.
pub fn sections(inputs: &[Input]) -> Result<Option<Vec<Section>>> {
    let mut settings = inputs.iter().flat_map(|input| match input {
        Input::Job(section) => section.settings.as_slice(),
        Input::File(_) => &[],
    });
    let Some(profile) = settings.find(|setting| setting.key == "profile") else {
        return Ok(None);
    };
    match profile.value.as_deref() {
        Some("tiobench") => Ok(Some(tiobench(settings)?)),
        Some("act") => bail!("profile act is not done here: write its jobs out in a job file"),
        other => bail!("profile '{}' not found", other.unwrap_or_default()),
    }
}

fn tiobench<'a>(given: impl Iterator<Item = &'a Setting>) -> Result<Vec<Section>> {
    let mut values = vec![
        ("buffered", "0".to_owned()),
        ("size", (4 * memory_kib()).to_string()),
        ("bs", "4096".to_owned()),
        ("loops", "1".to_owned()),
        ("directory", "./".to_owned()),
        ("numjobs", "1".to_owned()),
        ("runtime", "600".to_owned()),
        ("overwrite", "1".to_owned()),
        (
            "filename",
            ".fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4".to_owned(),
        ),
        ("ioengine", "sync".to_owned()),
    ];
    for setting in given {
        let known = OPTIONS.iter().find(|(name, _)| *name == setting.key);
        let Some((name, own)) = known else {
            let names = OPTIONS.map(|(name, _)| name).join(", ");
            bail!("{} is no option of tiobench: {names}", setting.key);
        };
        let text = setting.value.clone().unwrap_or_default();
        let value = match *name {
            // In MiB.
            "size" => format!("{text}m"),
            _ => text,
        };
        values.retain(|(key, _)| key != own);
        values.push((own, value));
    }
    let mut sections = vec![section("global", &values)];
    for (name, rw) in [
        ("seqwrite", "write"),
        ("randwrite", "randwrite"),
        ("seqread", "read"),
        ("randread", "randread"),
    ] {
        let mut own = vec![("name", name.to_owned()), ("rw", rw.to_owned())];
        if rw.ends_with("write") {
            own.push(("end_fsync", "1".to_owned()));
        }
        own.push(("stonewall", String::new()));
        sections.push(section(name, &own));
    }
    Ok(sections)
}

fn section(name: &str, values: &[(&str, String)]) -> Section {
    let settings = values.iter().map(|(key, value)| Setting {
        key: (*key).to_owned(),
        value: Some(value.clone()).filter(|value| !value.is_empty()),
        at: Place::COMMAND_LINE,
    });
    Section {
        begins_anew: false,
        name: name.to_owned(),
        settings: settings.collect(),
        at: Place::COMMAND_LINE,
    }
}
