//! The points of a curve as a table.

/// One point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// Name of the run.
    pub run: String,
    /// What was asked for; nothing of a maximum.
    pub asked: Option<f64>,
    /// Operations a second that were done.
    pub rate: f64,
    /// Mean from submission to completion, in milliseconds.
    pub service_ms: f64,
    /// Mean from the intended start to completion, in milliseconds; nothing where there is none.
    pub response_ms: Option<f64>,
}

/// The whole of it, the maximum first, which has no intended starts.
#[must_use]
pub fn curve_text(name: &str, points: &[CurvePoint]) -> String {
    let mut text = format!(
        "Curve {name}: mean latency against rate\n{:<24}{:>12}{:>12}{:>14}{:>14}\n",
        "run", "asked", "rate", "service ms", "response ms"
    );
    for point in points {
        let asked = point
            .asked
            .map_or("max".to_owned(), |asked| format!("{asked:.0}"));
        let response = point
            .response_ms
            .map_or("-".to_owned(), |ms| format!("{ms:.3}"));
        text.push_str(&format!(
            "{:<24}{asked:>12}{:>12.1}{:>14.3}{response:>14}\n",
            point.run, point.rate, point.service_ms
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(rate: f64, ms: f64) -> CurvePoint {
        CurvePoint {
            run: format!("rd1_({rate}%)"),
            asked: Some(rate),
            rate,
            service_ms: ms / 2.0,
            response_ms: Some(ms),
        }
    }

    #[test]
    fn a_curve_is_a_table() {
        let mut points = vec![point(5000.0, 0.25), point(8000.0, 0.4)];
        points[0].asked = None;
        points[0].response_ms = None;
        assert_eq!(
            curve_text("rd1", &points),
            "Curve rd1: mean latency against rate\n\
             run                            asked        rate    service ms   response ms\n\
             rd1_(5000%)                      max      5000.0         0.125             -\n\
             rd1_(8000%)                     8000      8000.0         0.200         0.400\n"
        );
    }
}
