//! A curve in words: its points, its knee, and where it passes one millisecond.

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

impl CurvePoint {
    fn latency(&self) -> f64 {
        self.response_ms.unwrap_or(self.service_ms)
    }
}

/// The whole of it. The maximum, which has no intended starts, stands in the table only.
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
    let mut paced: Vec<&CurvePoint> = points
        .iter()
        .filter(|point| point.asked.is_some())
        .collect();
    paced.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    match knee(&paced) {
        Some(knee) => text.push_str(&format!(
            "Knee    {:.0} IOPS at {:.3} ms: beyond it latency grows faster than the rate\n",
            knee.rate,
            knee.latency()
        )),
        None => text.push_str("Knee    none: three points with rising latency are needed\n"),
    }
    text.push_str(&match crossing(&paced, 1.0) {
        Some(rate) => format!("1 ms    passed at {rate:.0} IOPS, between two points\n"),
        None if paced.iter().all(|point| point.latency() > 1.0) && !paced.is_empty() => {
            "1 ms    passed already at the first point\n".to_owned()
        }
        None => "1 ms    not passed\n".to_owned(),
    });
    text
}

/// The point furthest below the line from the first to the last, both axes scaled to 1.
fn knee<'a>(points: &[&'a CurvePoint]) -> Option<&'a CurvePoint> {
    let (first, last) = (points.first()?, points.last()?);
    let (width, height) = (last.rate - first.rate, last.latency() - first.latency());
    if points.len() < 3 || width <= 0.0 || height <= 0.0 {
        return None;
    }
    let below = |point: &CurvePoint| {
        (point.rate - first.rate) / width - (point.latency() - first.latency()) / height
    };
    let best = points.iter().max_by(|a, b| below(a).total_cmp(&below(b)))?;
    (below(best) > 0.05).then_some(best)
}

/// The rate at which latency passes a limit, on the straight line between two points.
fn crossing(points: &[&CurvePoint], limit: f64) -> Option<f64> {
    let pair = points
        .windows(2)
        .find(|pair| pair[0].latency() <= limit && pair[1].latency() > limit)?;
    let rise = pair[1].latency() - pair[0].latency();
    let part = (limit - pair[0].latency()) / rise;
    Some(pair[0].rate + part * (pair[1].rate - pair[0].rate))
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
    fn the_knee_and_the_crossing_are_found() {
        let points: Vec<CurvePoint> = [
            (1000.0, 0.2),
            (5000.0, 0.25),
            (8000.0, 0.4),
            (9000.0, 0.8),
            (10_000.0, 4.8),
        ]
        .map(|(rate, ms)| point(rate, ms))
        .to_vec();
        let text = curve_text("rd1", &points);
        assert!(text.contains("Knee    9000 IOPS at 0.800 ms"), "{text}");
        assert!(text.contains("passed at 9050 IOPS"), "{text}");
        let flat = curve_text("rd1", &points[..2]);
        assert!(
            flat.contains("Knee    none") && flat.contains("not passed"),
            "{flat}"
        );
    }
}
