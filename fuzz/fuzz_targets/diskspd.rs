//! Any words as a command line, any text as an XML profile: no panic, and what is accepted is a
//! plan of sound jobs that can be written as XML and read again.
#![no_main]

use blocklab_diskspd::{
    Asked, Overrides, Profile, Terms, parse, prepare, profile_xml, read_xml,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if let Ok(parsed) = parse(&words)
        && let Asked::Load(profile) = parsed.asked
    {
        attempt(&profile);
    }
    if let Ok(profile) = read_xml(text, &Overrides::default()) {
        attempt(&profile);
    }
});

fn attempt(profile: &Profile) {
    // A thousand threads on a thousand targets are no news.
    let jobs = profile.timespans.iter().flat_map(|span| &span.targets);
    if jobs.map(|target| u64::from(target.threads)).sum::<u64>() > 1000 {
        return;
    }
    let _ = prepare(profile, &Terms::default());
    let overrides = Overrides {
        profile_only: profile.profile_only,
        ..Overrides::default()
    };
    read_xml(&profile_xml(profile), &overrides).expect("what is written can be read");
}
