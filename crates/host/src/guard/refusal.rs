//! What a user reads when a target is not written to: the reasons, and what would work.

use std::path::PathBuf;

use blocklab_units::shell_word;

use crate::reason::{Cause, Reason};

/// That a path is not written to, why, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Refusal {
    /// The path that was to be written to.
    pub path: PathBuf,
    /// At least one.
    pub reasons: Vec<Reason>,
    /// What has to be named to lift them all; empty where naming does not help.
    pub names: Vec<String>,
}

impl Refusal {
    /// The same with names that a fleet takes, which gives up data host by host.
    pub(super) fn on_host(mut self, host: &str) -> Self {
        for name in &mut self.names {
            *name = format!("{host}:{name}");
        }
        self
    }

    /// The reasons, one a line if there are several, and then what would work.
    fn text(&self) -> String {
        let mut text = match self.reasons.as_slice() {
            [reason] => format!("{reason}; blocklab does not write to it."),
            reasons => reasons.iter().fold(
                format!("blocklab does not write to {}:", self.path.display()),
                |text, reason| format!("{text}\n  - {reason}"),
            ),
        };
        let separator = if self.reasons.len() == 1 { ' ' } else { '\n' };
        for advice in self.advice() {
            text.push(separator);
            text.push_str(&advice);
        }
        text
    }

    /// What would work, one sentence each.
    fn advice(&self) -> Vec<String> {
        let mut causes = self.reasons.iter().map(|reason| &reason.cause);
        let mut advice = Vec::new();
        if causes.clone().any(|cause| *cause == Cause::NoSuchDevice) {
            advice.push("To see what there is: blocklab devices.".to_owned());
        }
        if causes.clone().any(|cause| *cause == Cause::Forbidden) {
            let words = "To let blocklab look at it: run it as root, or as a member of the group \
                         that owns it (usually `disk`).";
            advice.push(words.to_owned());
        }
        let mut steps: Vec<String> = Vec::new();
        for step in self.reasons.iter().filter_map(Reason::how_to_free) {
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        if !steps.is_empty() {
            let uses = "--destroy-data gives up content, never what others use";
            advice.push(format!("To free it: {} ({uses}).", steps.join("; ")));
        }
        if causes.any(|cause| matches!(cause, Cause::UnknownData(_))) {
            let words = "What an earlier run left would be known, unless that was killed or \
                         somebody wrote there since.";
            advice.push(words.to_owned());
        }
        if self.reasons.iter().all(|reason| reason.cause.can_be_read()) {
            // Fio's and Vdbench's loads say themselves whether they write.
            let words = "To measure reads only: --read-only, or with fio and Vdbench a load that does not \
                         write.";
            advice.push(words.to_owned());
        }
        if !self.names.is_empty() {
            let names = self.names.iter();
            let options: Vec<_> = names
                .map(|name| format!("--destroy-data={}", shell_word(name)))
                .collect();
            advice.push(format!("To destroy what is on it: {}", options.join(" ")));
        }
        advice
    }
}
