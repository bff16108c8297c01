//! What a sweep leaves unknown, in sentences.

use blocklab_device::Accounting;
use blocklab_units::{Bytes, Nanos};

use super::cells::{LoadDirection, Sweep, cells_text, pattern};
use super::choice::Choice;
use super::direction::BELOW_CAPS;
use super::draft::channels_unseen;
use super::plateau::plateaus;

/// Where the scatter of reads and that of writes differ by more than this factor, one sigma for both
/// misstates them.
const ONE_SCATTER: f64 = 1.5;

/// What the sweep leaves unknown, one sentence each.
pub(super) fn sentences(sweep: &Sweep, choice: &Choice) -> Vec<String> {
    let mut found = Vec::new();
    add_unmeasured(sweep, choice, &mut found);
    add_unfilled(sweep, choice, &mut found);
    add_channels(choice, &mut found);
    add_shared_caps(choice, &mut found);
    add_unit(choice, &mut found);
    add_scatter(choice, &mut found);
    add_processor(sweep, &mut found);
    found.push(
        "burst credits and write caches: a bucket that lasts for minutes looks like a cap to \
         cells of seconds; only a long cell shows what remains when it is empty."
            .to_owned(),
    );
    found.push(
        "several sequential streams at once, flushes and trims were not measured: streams count \
         as random when they interleave, but for what is left of reading ahead, and flushes and trims take the base of a write."
            .to_owned(),
    );
    found
}

/// Adds directions, patterns and sizes that were not measured.
fn add_unmeasured(sweep: &Sweep, choice: &Choice, found: &mut Vec<String>) {
    let fits = [
        (LoadDirection::Read, &choice.read, "reads", "writes"),
        (LoadDirection::Write, &choice.write, "writes", "reads"),
    ];
    for (direction, fit, name, other) in fits {
        let Some(fit) = fit else {
            found.push(format!(
                "random {name} were not measured: the model takes them to be as {other}."
            ));
            continue;
        };
        let sequential = sweep
            .series(direction, true)
            .any(|cell| cell.load.depth == 1);
        if !sequential {
            found.push(format!(
                "sequential {name} of depth 1 were not measured: they count as random."
            ));
        }
        if fit.is_bound {
            let most = Nanos((fit.random.base / BELOW_CAPS).round() as u64);
            found.push(format!(
                "how long random {name} take: every size of depth 1 lies at a cap, so that they take \
                 at most {most}; the model has half of that."
            ));
        } else if fit.random.sizes.count == 1 {
            let size = Bytes(fit.random.sizes.smallest);
            found.push(format!(
                "what a KiB costs random {name}: only {size} was below every cap at depth 1."
            ));
        }
    }
}

/// Adds loads of which the deepest queue showed no maximum. Where a direction has a maximum of the
/// medium, the way towards it has shown it.
fn add_unfilled(sweep: &Sweep, choice: &Choice, found: &mut Vec<String>) {
    let fits = [
        (LoadDirection::Read, &choice.read, "reads"),
        (LoadDirection::Write, &choice.write, "writes"),
    ];
    for (direction, fit, name) in fits {
        // Channels were fitted from a maximum, so nothing is open.
        if fit.as_ref().is_some_and(|fit| fit.channels.is_some()) {
            continue;
        }
        for sequential in [false, true] {
            let cells: Vec<_> = sweep.series(direction, sequential).collect();
            let Some(deepest) = cells.iter().map(|cell| cell.load.depth).max() else {
                continue;
            };
            let flat = plateaus(cells.iter().copied());
            let mut blocks: Vec<u64> = cells.iter().map(|cell| cell.load.block).collect();
            blocks.dedup();
            blocks.retain(|block| flat.iter().all(|plateau| plateau.block != *block));
            let open: Vec<_> = blocks
                .iter()
                .map(|block| Bytes(*block).to_string())
                .collect();
            if !open.is_empty() {
                let (pattern, sizes) = (pattern(sequential), open.join(", "));
                found.push(format!(
                    "the maximum of {pattern} {name} of {sizes}: no level was seen up to depth {deepest}."
                ));
            }
        }
    }
}

/// Adds a maximum of the medium that shows for one direction only.
fn add_channels(choice: &Choice, found: &mut Vec<String>) {
    let [reads, writes] =
        [&choice.read, &choice.write].map(|fit| fit.as_ref().map(|fit| fit.channels.is_some()));
    let open = match (reads, writes) {
        (Some(true), Some(false)) => "writes",
        (Some(false), Some(true)) => "reads",
        _ => return,
    };
    found.push(format!(
        "a maximum of the medium for {open} was not seen: the model lets it work on {} at a time.",
        channels_unseen()
    ));
}

/// Adds that both directions may share one cap, where no cell shows it.
fn add_shared_caps(choice: &Choice, found: &mut Vec<String>) {
    let shares = choice.shares;
    if !shares.shown && (shares.iops || shares.bytes) {
        found.push(
            "whether reads and writes share a cap: their levels are equal, so the model has one \
             for both; a cell that mixes them would show it."
                .to_owned(),
        );
    }
}

/// Adds the unit by which operations are counted, where only its existence shows.
fn add_unit(choice: &Choice, found: &mut Vec<String>) {
    match choice.accounting {
        Accounting::Plain | Accounting::Split { .. } => (),
        Accounting::Merged { unit } | Accounting::WholeUnits { unit } => found.push(format!(
            "the unit of accounting: sequential operations count as fewer than random ones; {unit} \
             is what EBS uses (assumed)."
        )),
    }
}

/// Adds how reads and writes scatter, where they scatter differently.
fn add_scatter(choice: &Choice, found: &mut Vec<String>) {
    let Some([reads, writes]) = choice.sigmas else {
        return;
    };
    // A scatter below 0.01 is too small to be told from none.
    let (less, more) = (reads.min(writes).max(0.01), reads.max(writes).max(0.01));
    if more / less > ONE_SCATTER {
        found.push(format!(
            "one scatter for both directions is all that the model has; reads have sigma \
             {reads:.2}, writes {writes:.2}: percentiles of both are off."
        ));
    }
}

/// Adds cells in which the processor may have limited the rate.
fn add_processor(sweep: &Sweep, found: &mut Vec<String>) {
    let bound = sweep.cells.iter().filter(|cell| cell.cpu_bound).count();
    if bound > 0 {
        found.push(format!(
            "in {} a thread of blocklab used a whole processor: the disk may do more. They had no \
             part in the fit; more threads would show it.",
            cells_text(bound)
        ));
    }
    let busy = sweep
        .cells
        .iter()
        .filter(|cell| cell.busy && !cell.cpu_bound)
        .count();
    if busy > 0 {
        found.push(format!(
            "how fast the disk is alone: in {} no processor of the machine was idle, so that \
             operations may have waited for one; measure again on a quiet machine.",
            cells_text(busy)
        ));
    }
}
