//! A page whose content another crate builds: a form on top, and what it asks for below, several
//! side by side.

use blocklab_report::document::{Document, Part, html as printed};
use blocklab_store::Store;
use maud::{Markup, html};

use super::{LONGEST_INPUT, Page, PageError};
use crate::layout::{navigation, page, query_text};

/// The query of a URL: names and values in their order, decoded.
pub type Query = [(String, String)];

/// A kind of page: its form, and the function that builds its content.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Its path, without slashes.
    pub path: &'static str,
    /// Its title.
    pub name: &'static str,
    /// What it shows, in a sentence.
    pub lead: &'static str,
    /// The fields of its form.
    pub fields: &'static [Field],
    /// Builds the content for a query, each part a column of the page; none for an empty query. An
    /// error is the text for the user.
    pub build: fn(&Store, &Query) -> Result<Vec<Built>, String>,
}

/// A text field of a form.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name in the query.
    pub name: &'static str,
    /// The label that users see.
    pub label: &'static str,
    /// An example, shown while the field is empty.
    pub example: &'static str,
    /// How many inputs of this name the form has.
    pub times: usize,
}

/// A column of a view's page.
#[derive(Debug)]
pub struct Built {
    /// Its HTML.
    pub body: Markup,
    /// The script that draws its charts, when it has any.
    pub script: Option<String>,
    /// The same content as a JSON object.
    pub json: String,
}

impl Built {
    /// Prints a document, which needs no script.
    pub fn document(document: &Document, json: String) -> Self {
        // A document that begins with a heading would otherwise show two in a row.
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

/// The page of a view for this query.
///
/// # Errors
/// [`PageError`] when the view cannot be built and JSON is asked for; the HTML page shows the reason
/// below the form instead.
pub fn view(view: &View, store: &Store, query: &Query, is_json: bool) -> Result<Page, PageError> {
    let built = (view.build)(store, query);
    let (built, why) = match built {
        Ok(built) => (built, None),
        Err(why) if is_json => return Err(PageError::invalid(why)),
        Err(why) => (Vec::new(), Some(why)),
    };
    let main = html! {
        h1 { (view.name) }
        p class="lead" { (view.lead) }
        (form(view, query))
        @if let Some(why) = why { pre class="card bad" role="alert" { (printed::prose(&why)) } }
        div class=[(built.len() > 1).then_some("side-by-side")] {
            @for one in &built { section class="view" { (one.body) } }
        }
    };
    let own = format!("/{}", view.path);
    let pairs = query
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{}={}&", query_text(name), query_text(value)));
    let json = format!("{own}.json?{}", pairs.collect::<String>());
    let more = [(json.trim_end_matches(['&', '?']).to_owned(), "JSON")];
    let shown: Vec<&str> = built.iter().map(|one| one.json.trim()).collect();
    // One function built all columns, so those with charts need the same script: the first is enough.
    let script = built.iter().find_map(|one| one.script.clone());
    Ok(Page {
        html: page(view.name, &navigation(&own, &more), &main, script),
        json: match shown[..] {
            [one] => format!("{one}\n"),
            _ => format!(
                "{{\"view_format\": 1, \"shown\": [{}]}}\n",
                shown.join(",\n")
            ),
        },
    })
}

/// The value of the input `number` (from 0) of the name; empty when the query has none.
fn value_given<'a>(query: &'a Query, name: &str, number: usize) -> &'a str {
    let named = query.iter().filter(|(key, _)| key == name);
    named
        .map(|(_, value)| &**value)
        .nth(number)
        .unwrap_or_default()
}

/// The form of a view, filled in from the query.
fn form(view: &View, query: &Query) -> Markup {
    let own = format!("/{}", view.path);
    html! {
        form class="filters" method="get" action=(own) {
            @for field in view.fields {
                @for number in 0..field.times {
                    label {
                        (field.label) @if number > 0 { " " (number + 1) }
                        input type="text" name=(field.name) value=(value_given(query, field.name, number)) placeholder=(field.example)
                            maxlength=(LONGEST_INPUT) autocomplete="off" spellcheck="false";
                    }
                }
            }
            button class="act" type="submit" { "Show" }
        }
    }
}
