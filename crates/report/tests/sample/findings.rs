//! What the sample says of itself.

use blocklab_findings::{Confidence, Evidence, Finding, Severity};

/// A warning of one case, and explanations of three and of two.
pub fn findings() -> Vec<Finding> {
    vec![
        Finding {
            rule: "cpu-limit",
            subject: vec!["rnd4k-q32-read".to_owned()],
            severity: Severity::Warning,
            confidence: Confidence::Medium,
            statement: "rnd4k-q32-read: the processor was the limit, not the target: the busiest \
                        thread used 97 % of a processor, 2.50 µs an operation."
                .to_owned(),
            evidence: evidence(
                &[
                    ("busiest thread", "%"),
                    ("processor time per operation", "ns"),
                ],
                &[("rnd4k-q32-read", &[97.0, 2_500.0])],
            ),
            advice: Some("Repeat the case with two threads: `threads = 2`.".to_owned()),
        },
        Finding {
            rule: "too-short",
            subject: ["rnd4k-q32-write", "rnd4k-q1-read", "rnd4k-q1-write"]
                .map(str::to_owned)
                .into(),
            severity: Severity::Info,
            confidence: Confidence::High,
            statement: "In 3 of 8 cases, only 6.0 to 6.1 s were measured, so a burst or a cache \
                        may carry the figures."
                .to_owned(),
            evidence: evidence(
                &[("measured time", "s"), ("passes", "")],
                &[
                    ("rnd4k-q32-write", &[6.0, 3.0]),
                    ("rnd4k-q1-read", &[6.1, 3.0]),
                    ("rnd4k-q1-write", &[6.0, 3.0]),
                ],
            ),
            advice: Some("Use a longer --runtime: at least ten seconds a case.".to_owned()),
        },
        Finding {
            rule: "latency-bound",
            subject: vec!["rnd4k-q1-read".to_owned(), "rnd4k-q1-write".to_owned()],
            severity: Severity::Info,
            confidence: Confidence::High,
            statement: "rnd4k-q1-read and rnd4k-q1-write: latency is the limit: one in flight."
                .to_owned(),
            evidence: evidence(
                &[("operations in flight", "")],
                &[("rnd4k-q1-read", &[0.98]), ("rnd4k-q1-write", &[0.97])],
            ),
            advice: None,
        },
    ]
}

/// Nothing is wrong.
pub fn good() -> Finding {
    Finding {
        rule: "sound",
        subject: Vec::new(),
        severity: Severity::Good,
        confidence: Confidence::High,
        statement: "All 8 cases were measured without a failure; the 3 passes of each agree \
                    within 4 %, and percentiles up to p99.9 are supported in every case."
            .to_owned(),
        evidence: Vec::new(),
        advice: None,
    }
}

fn evidence(quantities: &[(&str, &'static str)], cases: &[(&str, &[f64])]) -> Vec<Evidence> {
    let of_case = |(case, values): &(&str, &[f64])| -> Vec<Evidence> {
        let pairs = quantities.iter().zip(*values);
        let figure = |((name, unit), value): (&(&str, &'static str), &f64)| Evidence {
            name: (*name).to_owned(),
            case: Some((*case).to_owned()),
            value: *value,
            unit,
        };
        pairs.map(figure).collect()
    };
    cases.iter().flat_map(of_case).collect()
}
