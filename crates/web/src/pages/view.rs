//! A view that somebody else builds as a Document: its form above it, several beside each other.

use blocklab_report::document::{Document, Part, html as printed};
use blocklab_store::Store;
use maud::{Markup, html};

use super::{NoPage, Page};
use crate::layout::{above, page, query_text};

/// What an address asks for: names and values, in their order.
pub type Query = [(String, String)];

/// A view, and how it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Its address, without slashes.
    pub place: &'static str,
    /// Its title.
    pub name: &'static str,
    /// What it shows, in a sentence.
    pub lead: &'static str,
    /// What can be asked for.
    pub fields: &'static [Field],
    /// Builds it; nothing where nothing is asked for. Of several each is a column.
    pub build: fn(&Store, &Query) -> Result<Vec<Built>, String>,
}

/// Something that can be asked for.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name in the address.
    pub name: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// An example.
    pub example: &'static str,
    /// So many of it beside each other.
    pub times: usize,
}

/// What is shown, and its JSON.
#[derive(Debug)]
pub struct Built {
    /// For people.
    pub body: Markup,
    /// What draws its charts, where it has some.
    pub script: Option<String>,
    /// For programs: an object.
    pub json: String,
}

impl Built {
    /// A document, which needs no script.
    pub fn document(document: &Document, json: String) -> Self {
        let has_heading = matches!(document.parts.first(), Some(Part::Heading(_)));
        let body = html! {
            @if !has_heading { h2 { (document.name) } }
            (printed::parts(&document.parts, &document.name))
        };
        Self {
            body,
            script: None,
            json,
        }
    }
}

/// The page of a view.
///
/// # Errors
/// [`NoPage`] when what is asked for cannot be shown.
pub fn view(view: &View, store: &Store, query: &Query, is_json: bool) -> Result<Page, NoPage> {
    let built = (view.build)(store, query);
    let (built, why) = match built {
        Ok(built) => (built, None),
        Err(why) if is_json => return Err(NoPage::invalid(why)),
        Err(why) => (Vec::new(), Some(why)),
    };
    let main = html! {
        h1 { (view.name) }
        p class="lead" { (view.lead) }
        (form(view, query))
        @if let Some(why) = why { pre class="card bad" role="alert" { (why) } }
        div class=[(built.len() > 1).then_some("beside")] {
            @for one in &built { section class="view" { (one.body) } }
        }
    };
    let own = format!("/{}", view.place);
    let asked = query
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{}={}&", query_text(name), query_text(value)));
    let json = format!("{own}.json?{}", asked.collect::<String>());
    let more = [(json.trim_end_matches(['&', '?']).to_owned(), "JSON")];
    let shown: Vec<&str> = built.iter().map(|one| one.json.trim()).collect();
    let script = built.iter().find_map(|one| one.script.clone());
    Ok(Page {
        html: page(view.name, &above(&own, &more), &main, script),
        json: match shown[..] {
            [one] => format!("{one}\n"),
            _ => format!(
                "{{\"view_format\": 1, \"shown\": [{}]}}\n",
                shown.join(",\n")
            ),
        },
    })
}

/// The value of a field that stands several times in a form; empty where it was not given.
fn given<'a>(query: &'a Query, name: &str, number: usize) -> &'a str {
    let named = query.iter().filter(|(key, _)| key == name);
    named
        .map(|(_, value)| &**value)
        .nth(number)
        .unwrap_or_default()
}

fn form(view: &View, query: &Query) -> Markup {
    let own = format!("/{}", view.place);
    html! {
        form class="filters" method="get" action=(own) {
            @for field in view.fields {
                @for number in 0..field.times {
                    label {
                        (field.label) @if number > 0 { " " (number + 1) }
                        input type="text" name=(field.name) value=(given(query, field.name, number)) placeholder=(field.example)
                            maxlength="300" autocomplete="off" spellcheck="false";
                    }
                }
            }
            button class="act" type="submit" { "Show" }
        }
    }
}
