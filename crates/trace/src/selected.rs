//! In: a trace of several devices, with times counted from any moment. Out: the operations of one
//! device in a span of time, with times counted from the beginning of that span.

use blocklab_units::{Nanos, agreeing, plural, with_defaults};

use crate::{Clock, Operation, Source, TraceError};

with_defaults! {
    /// A choice of operations.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Selection {
        /// The name of a device; `None`: all.
        pub device: Option<String> = None,
        /// Earlier operations are left out; since the beginning of the trace.
        pub from: Nanos = Nanos::ZERO,
        /// Operations at this time or later are left out; since the beginning of the trace.
        pub until: Nanos = Nanos::MAX,
        /// Whether several devices are an error, because their offsets cannot be mixed.
        pub refuses_several: bool = false,
    }
}

/// The selected operations of a source.
pub struct Selected<'a> {
    source: Box<dyn Source + 'a>,
    selection: Selection,
    /// The beginning of the trace in ns of the source's clock, once an operation has come.
    zero: Option<u64>,
    /// The number of the only device in the source, once one of its operations has come.
    only: Option<u32>,
    /// The name of that device.
    targets: Vec<String>,
    /// Number of operations that were left out.
    others: u64,
}

impl<'a> Selected<'a> {
    /// Selects from a source, which must be in order of time.
    pub fn new(source: Box<dyn Source + 'a>, selection: Selection) -> Self {
        Self {
            source,
            selection,
            zero: None,
            only: None,
            targets: Vec::new(),
            others: 0,
        }
    }

    /// The number of operations of other devices or times that were read until now.
    pub const fn left_out(&self) -> u64 {
        self.others
    }

    /// Whether an operation is on the selected device. The first operation selects its device if a
    /// single one is wanted and none is named. The number of a single device becomes 0.
    ///
    /// # Errors
    /// When a second device comes and only one is allowed.
    fn select(&mut self, operation: &mut Operation) -> Result<bool, TraceError> {
        if self.selection.device.is_none() && !self.selection.refuses_several {
            return Ok(true);
        }
        if let Some(only) = self.only
            && (only == operation.target || self.selection.device.is_some())
        {
            let is_it = only == operation.target;
            operation.target = 0;
            return Ok(is_it);
        }
        let names = self.source.targets();
        let name = names
            .get(operation.target as usize)
            .map_or("", String::as_str);
        if let Some(wanted) = &self.selection.device {
            if name != wanted {
                return Ok(false);
            }
        } else if let Some(only) = self.only {
            let first = names.get(only as usize).map_or("", String::as_str);
            return Err(TraceError::Ask(format!(
                "operations of several devices, such as `{first}` and `{name}`: their offsets mean \
                 different places, so name one with --device (`blocklab trace show` lists them)"
            )));
        }
        self.only = Some(operation.target);
        self.targets = vec![name.to_owned()];
        operation.target = 0;
        Ok(true)
    }

    /// Checks at the end of a trace with operations that it has the selected device.
    fn refuse_unknown_device(&self) -> Result<(), TraceError> {
        let names = self.source.targets();
        match &self.selection.device {
            Some(device) if self.others > 0 && !names.contains(device) => {
                let named = names.iter().map(String::as_str);
                let shown: Vec<&str> = named.filter(|name| !name.is_empty()).take(20).collect();
                let known = if shown.is_empty() {
                    "names none".to_owned()
                } else {
                    format!("has {}", shown.join(", "))
                };
                Err(TraceError::Ask(format!(
                    "no operation is on the device `{device}`; the trace {known}"
                )))
            }
            _ => Ok(()),
        }
    }
}

impl Source for Selected<'_> {
    fn next(&mut self) -> Result<Option<Operation>, TraceError> {
        loop {
            let Some(mut operation) = self.source.next()? else {
                return self.refuse_unknown_device().map(|()| None);
            };
            let zero = *self.zero.get_or_insert_with(|| match self.source.clock() {
                Clock::Recording => 0,
                Clock::Unknown | Clock::Unix => operation.at.0,
            });
            let at = operation.at.0.saturating_sub(zero);
            if at >= self.selection.until.0 {
                // Operations come in order of time, so nothing more is selected. But while the
                // selected device has not come, the rest is read, because its absence is an error.
                if self.selection.device.is_none() || self.only.is_some() {
                    return Ok(None);
                }
                self.others += 1;
                continue;
            }
            if at < self.selection.from.0 || !self.select(&mut operation)? {
                self.others += 1;
                continue;
            }
            operation.at = Nanos(at - self.selection.from.0);
            return Ok(Some(operation));
        }
    }

    fn targets(&self) -> &[String] {
        if self.only.is_some() {
            &self.targets
        } else {
            self.source.targets()
        }
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn begins(&self) -> Option<u64> {
        let began = match self.source.clock() {
            Clock::Unix => self.zero,
            _ => self.source.begins(),
        };
        began.map(|began| began.saturating_add(self.selection.from.0))
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.source.remarks();
        if self.others > 0 {
            remarks.push(format!(
                "{} of other devices or times {} left out, as asked",
                plural(self.others as usize, "operation"),
                agreeing(self.others as usize, "is", "are")
            ));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::{Columns, Csv, Preset};
    use crate::testing::{all, fault};

    const TWO: &str =
        "1,R,0,512,1577900000000000\n2,W,0,512,1577900000000010\n1,R,512,512,1577900000000020\n";

    fn selected(selection: Selection) -> Selected<'static> {
        let columns = Preset::find("alibaba").expect("known").columns();
        Selected::new(Box::new(Csv::new(TWO.as_bytes(), columns)), selection)
    }

    #[test]
    fn a_device_is_chosen_and_time_counts_from_the_first_operation() {
        let mut one = selected(Selection {
            device: Some("1".to_owned()),
            ..Selection::default()
        });
        let moments: Vec<u64> = all(&mut one).iter().map(|op| op.at.0).collect();
        assert_eq!(moments, [0, 20_000]);
        assert_eq!(one.targets(), ["1"]);
        assert_eq!(one.begins(), Some(1_577_900_000_000_000_000));
        let mut late = selected(Selection {
            from: Nanos(10_000),
            until: Nanos(20_000),
            ..Selection::default()
        });
        assert_eq!(all(&mut late).len(), 1);
    }

    /// The story: a device whose operations are all before --from was reported as one that the trace does
    /// not have, in a sentence that then listed it.
    #[test]
    fn a_device_outside_of_the_span_is_not_reported_as_missing() {
        for (from, until) in [(15_000, 30_000), (0, 5_000)] {
            let mut other = selected(Selection {
                device: Some("2".to_owned()),
                from: Nanos(from),
                until: Nanos(until),
                ..Selection::default()
            });
            assert_eq!(all(&mut other), []);
            assert_eq!(other.left_out(), 3);
        }
    }

    /// `--device x` of a table without a column for it, or of an empty trace, ended in "the trace has"
    /// and nothing after it.
    #[test]
    fn a_trace_without_devices_says_that_it_names_none() {
        let columns = Columns::parse("time=1:us,op=2,offset=3,length=4").expect("sound");
        let of_table = |text: &'static str| {
            let source = Box::new(Csv::new(text.as_bytes(), columns.clone()));
            let device = Some("x".to_owned());
            let selection = Selection {
                device,
                ..Selection::default()
            };
            Selected::new(source, selection)
        };
        let text = fault(&mut of_table("1,R,0,512\n"));
        assert!(text.ends_with("`x`; the trace names none"), "{text}");
        assert_eq!(all(&mut of_table("")), []);
    }

    #[test]
    fn several_devices_are_asked_for() {
        let mut mixed = selected(Selection {
            refuses_several: true,
            ..Selection::default()
        });
        let text = fault(&mut mixed);
        assert!(
            text.contains("`1` and `2`") && text.contains("--device"),
            "{text}"
        );
        let mut none = selected(Selection {
            device: Some("3".to_owned()),
            ..Selection::default()
        });
        assert!(fault(&mut none).contains("the trace has 1, 2"));
    }
}
