//! A study on a volume that nobody rented, simulated while the reader waits.

use blocklab_record::Record;
use blocklab_report::document::html::prose;
use blocklab_report::json;
use maud::html;

use super::{NoPage, Page};
use crate::layout::{above, page};

/// Who can simulate a study.
#[derive(Debug, Clone, Copy)]
pub struct Simulator {
    /// The studies that run on one target: name and description.
    pub studies: fn() -> Vec<(&'static str, String)>,
    /// The run of a study on the volume of an address, ended when it takes too long.
    pub simulate: fn(&str, &str) -> Result<Record, String>,
}

/// What is asked for: a study and an address.
pub fn asked(query: &[(String, String)]) -> Option<(String, String)> {
    let text = |name: &str| {
        let found = query
            .iter()
            .find(|(key, value)| key == name && !value.trim().is_empty());
        found.map(|(_, value)| value.trim().to_owned())
    };
    text("study").zip(text("address"))
}

/// The form, and why what it asked for cannot be.
pub fn form(simulator: &Simulator, asked: Option<&(String, String)>, why: Option<&str>) -> Page {
    let (study, address) = asked.map_or(("quick", ""), |(study, address)| (study, address));
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
                    maxlength="300" autocomplete="off" spellcheck="false" required;
            }
            button class="act" type="submit" { "Simulate" }
        }
        @if let Some(why) = why { pre class="card bad" role="alert" { (why) } }
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
        html: page("Simulate a study", &above("/studies", &[]), &main, None),
        json: format!("{json:#}\n"),
    }
}

/// The simulated run as a page.
///
/// # Errors
/// [`NoPage`] where it cannot be simulated.
pub fn simulate(simulator: &Simulator, study: &str, address: &str) -> Result<Page, NoPage> {
    let record = (simulator.simulate)(study, address).map_err(NoPage::invalid)?;
    let assessment = blocklab_findings::assess(&record);
    let above = crate::layout::above_run(&[("/studies".to_owned(), "Another")]);
    Ok(Page {
        html: blocklab_page::run_among_others(&record, &assessment, &above),
        json: json::summary(&record, &assessment, None),
    })
}
