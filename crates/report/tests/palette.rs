//! Every colour of a page can be read on what it stands on, light and dark.

use std::collections::BTreeMap;

use blocklab_report::document::head::style;

type Palette = BTreeMap<String, [f64; 3]>;

/// `--ink: #161a21;` and the like, up to the end of their rule.
fn palette(rule: &str) -> Palette {
    let rule = rule.split('}').next().expect("a rule");
    let one = |line: &str| {
        let (name, value) = line.trim().strip_prefix("--")?.split_once(": #")?;
        let digits = value.strip_suffix(';').filter(|digits| digits.len() == 6)?;
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        let parts = [part(0)?, part(2)?, part(4)?];
        Some((name.to_owned(), parts.map(f64::from)))
    };
    rule.lines().filter_map(one).collect()
}

/// Relative luminance as WCAG 2 defines it.
fn luminance(color: [f64; 3]) -> f64 {
    let linear = color.map(|part| {
        let part = part / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let [a, b] = [luminance(a), luminance(b)];
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[track_caller]
fn check(palette: &Palette, mode: &str, on: &str, colors: &[&str], least: f64) {
    for color in colors {
        let found = contrast(palette[*color], palette[on]);
        assert!(
            found >= least,
            "{mode}: {color} on {on} is {found:.2} : 1, less than {least} : 1"
        );
    }
}

/// Text needs 4.5 : 1, a line or a bar 3 : 1.
#[test]
fn colours_can_be_read() {
    let style = style("");
    let (light, rest) = style
        .split_once(":root {")
        .expect("the light ones")
        .1
        .split_once('}')
        .expect("an end");
    let dark = rest
        .split_once("data-theme=\"dark\"] {")
        .expect("the dark ones")
        .1;
    let light = palette(light);
    let mut all = light.clone();
    all.extend(palette(dark));
    for (mode, palette) in [("light", &light), ("dark", &all)] {
        for on in ["page", "surface", "raised"] {
            let texts = [
                "ink", "soft", "muted", "accent", "bad", "doubt", "good", "info",
            ];
            check(palette, mode, on, &texts, 4.5);
        }
        for tone in ["bad", "doubt", "good"] {
            check(palette, mode, &format!("{tone}-tint"), &[tone], 4.5);
        }
        let series = ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"];
        check(palette, mode, "surface", &series, 3.0);
    }
}
