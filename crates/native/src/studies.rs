//! The studies that come with the program, as text that a user can copy and change.

/// Names and texts, in the order in which they are listed.
const STUDIES: [(&str, &str); 7] = [
    ("quick", include_str!("../../../studies/quick.toml")),
    ("calibrate", include_str!("../../../studies/calibrate.toml")),
    ("i3-vs-i2", include_str!("../../../studies/i3-vs-i2.toml")),
    ("ebs-hdd", include_str!("../../../studies/ebs-hdd.toml")),
    ("i3-metal", include_str!("../../../studies/i3-metal.toml")),
    (
        "r5d-vs-gp3",
        include_str!("../../../studies/r5d-vs-gp3.toml"),
    ),
    ("im4gn", include_str!("../../../studies/im4gn.toml")),
];

/// The text of a built-in study.
pub fn builtin(name: &str) -> Option<&'static str> {
    let found = STUDIES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// The names of the built-in studies.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    STUDIES.iter().map(|(name, _)| *name)
}
