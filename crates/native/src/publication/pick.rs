//! The part of a cell that a row, a column or a check selects, and the cell that results.

use blocklab_workload::publication::{Cell, Family, Figure, Scope, System};

use super::super::value::Value;
use blocklab_syntax::toml_tree::Complaint;
use blocklab_units::nearest;

/// Every name that may be used.
pub(super) struct Known {
    pub systems: Vec<System>,
    pub families: Vec<Family>,
}

/// Settings and name of a case.
type Made = (Vec<(String, String)>, String);

impl Known {
    /// The settings, as names and values, and the name of every case.
    pub fn cases(&self) -> impl Iterator<Item = (&[(String, String)], &str)> {
        let all = self.families.iter().flat_map(|family| &family.cases);
        all.map(|(settings, name)| (&settings[..], &name[..]))
    }

    pub fn system(&self, value: Value<'_>) -> Result<String, Complaint> {
        let names = self.systems.iter().map(|system| &*system.name);
        one_of(value, names, "system")
    }

    /// The name of a sweep, or of one of its cases.
    pub fn case(&self, value: Value<'_>) -> Result<String, Complaint> {
        let families = self.families.iter().map(|family| &*family.name);
        // The only case of a family has its name.
        let others = self.cases().map(|(_, name)| name);
        let others = others.filter(|name| !self.is_sweep(name));
        one_of(value, families.chain(others), "case")
    }

    /// Whether a `[[case]]` has this name: a sweep, or the only case that it makes.
    pub fn is_sweep(&self, name: &str) -> bool {
        self.families.iter().any(|family| family.name == name)
    }

    /// All cases of a sweep, or the case itself.
    pub fn cases_of(&self, name: &str) -> Vec<Made> {
        if let Some(family) = self.families.iter().find(|family| family.name == name) {
            return family.cases.clone();
        }
        let cases = self.families.iter().flat_map(|family| &family.cases);
        cases.filter(|(_, case)| case == name).cloned().collect()
    }
}

/// A name out of those that are known; `what` has this name, for the error.
fn one_of<'k>(
    value: Value<'_>,
    known: impl Iterator<Item = &'k str>,
    what: &str,
) -> Result<String, Complaint> {
    let name = value.text()?;
    let known: Vec<&str> = known.collect();
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    let wrong = value.complaint(format!("no {what} is called `{name}`"));
    Err(match nearest(name, known.iter().copied()) {
        Some(guess) => wrong.guess(Some(guess)),
        None => wrong.hint(format!("known here: {}", known.join(", "))),
    })
}

pub(super) fn figure(value: Value<'_>) -> Result<Figure, Complaint> {
    let text = value.text()?;
    text.parse().map_err(|_| value.complaint(figure_hint(text)))
}

/// The error for a word that is no figure.
pub(super) fn figure_hint(text: &str) -> String {
    let guess = nearest(text, Figure::names());
    let hint = guess.map_or_else(
        || {
            format!(
                "known are {}",
                Figure::names().collect::<Vec<_>>().join(", ")
            )
        },
        |guess| format!("did you mean `{guess}`?"),
    );
    format!("`{text}` is no figure; {hint}")
}

/// What is settled of a cell so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pick {
    pub system: Option<String>,
    pub over: Option<String>,
    pub case: Option<String>,
    pub than: Option<String>,
    pub settings: Vec<(String, String)>,
    pub figure: Option<Figure>,
}

impl Pick {
    /// Fills in from `other` what this leaves open.
    pub fn or(&self, other: &Self) -> Self {
        let mut settings = self.settings.clone();
        settings.extend(other.settings.iter().cloned());
        Self {
            system: self.system.clone().or_else(|| other.system.clone()),
            over: self.over.clone().or_else(|| other.over.clone()),
            case: self.case.clone().or_else(|| other.case.clone()),
            than: self.than.clone().or_else(|| other.than.clone()),
            settings,
            figure: self.figure.or(other.figure),
        }
    }

    /// The cell; `None` where no case has these settings. The error names what is missing.
    pub fn cell(&self, known: &Known) -> Result<Option<Cell>, String> {
        let system = self.system.clone().ok_or("of which system? Set `system`")?;
        let figure = self.figure.ok_or("which figure? Set `figure`")?;
        let case = match figure.scope() {
            Scope::System => None,
            Scope::Sweep => match &self.case {
                Some(case) if known.is_sweep(case) => Some(case.clone()),
                Some(case) => {
                    return Err(format!(
                        "`{case}` is one case of a sweep, and `{figure}` is a figure of the whole"
                    ));
                }
                None => return Err("of which sweep? Set `case`".to_owned()),
            },
            Scope::Case => match self.only_case(known)? {
                Some(case) => Some(case),
                None => return Ok(None),
            },
        };
        Ok(Some(Cell {
            system,
            over: self.over.clone(),
            case,
            than: self.than.clone(),
            figure,
        }))
    }

    /// The only case that the choice fits; `None` if there is none, an error if there are several.
    fn only_case(&self, known: &Known) -> Result<Option<String>, String> {
        let made = match &self.case {
            Some(name) => known.cases_of(name),
            None => known
                .families
                .iter()
                .flat_map(|family| family.cases.clone())
                .collect(),
        };
        let fitting: Vec<Made> = made.into_iter().filter(|made| self.fits(&made.0)).collect();
        // The name alone means the case, not its repetitions at lower rates.
        let named = fitting
            .iter()
            .find(|(_, case)| self.case.as_ref() == Some(case));
        if let Some((_, case)) = named {
            return Ok(Some(case.clone()));
        }
        match &fitting[..] {
            [] => Ok(None),
            [(_, case)] => Ok(Some(case.clone())),
            [(_, a), (_, b), ..] => Err(format!(
                "of which case? `{a}` and `{b}` match, and perhaps more; set `case` or a setting"
            )),
        }
    }

    pub fn fits(&self, settings: &[(String, String)]) -> bool {
        self.settings.iter().all(|wanted| settings.contains(wanted))
    }
}
