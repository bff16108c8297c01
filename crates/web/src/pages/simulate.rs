//! Simulates a study on a modelled volume while the browser waits. Nothing is stored.

use blocklab_record::Record;
use blocklab_report::document::html::prose;
use blocklab_report::json;
use maud::html;

use super::{LONGEST_INPUT, Page, PageError};
use crate::layout::{navigation, page, run_navigation};

/// The functions that simulate a study; `web` itself never runs one.
#[derive(Debug, Clone, Copy)]
pub struct Simulator {
    /// The studies that run on one target: name and description.
    pub studies: fn() -> Vec<(&'static str, String)>,
    /// Runs a study (its name) on a volume (its address, as in `gp3:1TiB`). It gives an error, with
    /// the text for the user, when either is invalid or the simulation takes too long.
    pub simulate: fn(&str, &str) -> Result<Record, String>,
}

/// What is to be simulated.
pub struct SimulationQuery {
    /// The name of a built-in study.
    study: String,
    /// The address of a volume.
    address: String,
}

impl SimulationQuery {
    /// What the query asks for; `None` unless it names both the study and the volume.
    pub fn from_pairs(query: &[(String, String)]) -> Option<Self> {
        let text = |name: &str| {
            let found = query
                .iter()
                .find(|(key, value)| key == name && !value.trim().is_empty());
            found.map(|(_, value)| value.trim().to_owned())
        };
        Some(Self {
            study: text("study")?,
            address: text("address")?,
        })
    }
}

/// The page with the form. `query`: what the form was sent with; `why`: the reason for which that
/// cannot be simulated.
pub fn form(simulator: &Simulator, query: Option<&SimulationQuery>, why: Option<&str>) -> Page {
    let study = query.map_or("quick", |query| &query.study);
    let address = query.map_or("", |query| &query.address);
    let studies = (simulator.studies)();
    let main = html! {
        h1 { "Simulate a study" }
        p class="lead" {
            "Runs a built-in study in virtual time on the model of a volume that can be bought. Nothing "
            "is measured, and nothing is kept."
        }
        form class="filters" method="get" action="/studies" {
            label {
                "Study"
                select name="study" {
                    @for (name, _) in &studies { option value=(name) selected[*name == study] { (name) } }
                }
            }
            label {
                "Volume"
                input type="text" name="address" value=(address) placeholder="gp3:1TiB@r5d.xlarge"
                    maxlength=(LONGEST_INPUT) autocomplete="off" spellcheck="false" required;
            }
            button class="act" type="submit" { "Simulate" }
        }
        @if let Some(why) = why { pre class="card bad" role="alert" { (prose(why)) } }
        dl class="facts" {
            @for (name, description) in &studies {
                div { dt { (name) } dd { (prose(description)) } }
            }
        }
    };
    let names = studies
        .iter()
        .map(|(name, description)| serde_json::json!({ "name": name, "description": description }));
    let json = serde_json::json!({ "studies_format": 1, "studies": names.collect::<Vec<_>>() });
    Page {
        html: page(
            "Simulate a study",
            &navigation("/studies", &[]),
            &main,
            None,
        ),
        json: format!("{json:#}\n"),
    }
}

/// The page of the simulated run.
///
/// # Errors
/// [`PageError`] when the simulation fails.
pub fn simulate(simulator: &Simulator, query: &SimulationQuery) -> Result<Page, PageError> {
    let record = (simulator.simulate)(&query.study, &query.address).map_err(PageError::invalid)?;
    let assessment = blocklab_findings::assess(&record);
    let navigation = run_navigation(&[("/studies".to_owned(), "Another")]);
    Ok(Page {
        html: blocklab_page::run_among_others(&record, &assessment, &navigation),
        json: json::summary(&record, &assessment, None),
    })
}
