//! `blocklab note`: the user's note on a run, and its tags.

use anyhow::{Result, bail};
use blocklab_console::{place, terminal};
use blocklab_findings::assess;
use blocklab_native::studies;
use blocklab_results::output::{self, Over};
use blocklab_store::{Store, Stored, read_plain};

use crate::chosen;
use blocklab_args::NoteArgs;

/// Changes the tags of a run if any are given; shows, writes or deletes its note.
pub fn note(args: &NoteArgs, store: &Store) -> Result<()> {
    let text = args.text.join(" ");
    // Before the tags are changed.
    if text.trim().is_empty() && !args.text.is_empty() {
        bail!("the note is empty; --delete deletes the present one");
    }
    Store::check_note(text.trim())?;
    if let Some(tag) = args.tag.iter().find(|tag| args.untag.contains(tag)) {
        bail!("--tag and --untag both name {tag}");
    }
    let is_tagged = !args.tag.is_empty() || !args.untag.is_empty();
    if is_tagged {
        let (id, tags) = store.tag(&args.run, &args.tag, &args.untag)?;
        let tags = match &tags[..] {
            [] => "no tag".to_owned(),
            [tag] => format!("the tag {tag}"),
            tags => format!("the tags {}", tags.join(", ")),
        };
        terminal::print(format!("{id} has {tags}\n"))?;
        if args.text.is_empty() && !args.delete {
            return Ok(());
        }
    }
    if args.text.is_empty() && !args.delete {
        let record = chosen::record(&args.run, store)?;
        return terminal::print_styled(match record.note {
            Some(note) => format!("{note}\n"),
            None => format!(
                "{} has no note; `blocklab note {0} TEXT{}` adds one\n",
                record.id,
                place::store_option(store)
            ),
        });
    }
    let stored = store.annotate(&args.run, (!args.delete).then_some(text.trim()))?;
    rewrite_page(&stored)?;
    let done = if args.delete {
        "no note is left with"
    } else {
        "noted with"
    };
    let pages = study_pages(&stored.record.id, store);
    terminal::print_styled(format!("{done} {}\n{}", stored.record.id, pages.concat()))
}

/// A line for each page of a study that shows the run, with the command that renders the page again.
/// That is left to the user, because the conclusions on the page are in the study's file, which the
/// store does not keep.
fn study_pages(id: &str, store: &Store) -> Vec<String> {
    let runs = store.list().runs;
    let pages = runs.iter().filter_map(|listed| {
        let path = Store::study_page(&store.root().join(&listed.id));
        let page = read_plain(&path).ok().filter(|page| page.contains(id))?;
        let shown = runs.iter().filter(|run| page.contains(&run.id));
        let with: String = shown.map(|shown| format!(" --with {}", shown.id)).collect();
        let study = match studies::builtin(&listed.study) {
            Some(_) => &*listed.study,
            None => "STUDY.toml",
        };
        Some(format!(
            "{} shows it after  blocklab run {study}{with}{}\n",
            path.display(),
            place::store_option(store)
        ))
    });
    pages.collect()
}

/// Writes the page beside the record again, now with the note. A page that somebody changed
/// is not blocklab's any more, so it cannot be replaced and stays as it is; a deleted one stays deleted.
fn rewrite_page(stored: &Stored) -> Result<()> {
    let Some(folder) = stored.file.parent() else {
        return Ok(());
    };
    let path = Store::page(folder);
    if !path.is_file() || output::try_out(&path, Over::Ours).is_err() {
        return Ok(());
    }
    let page = blocklab_page::runs(&[(&stored.record, &assess(&stored.record))]);
    output::write(&path, page, Over::Ours)
}
