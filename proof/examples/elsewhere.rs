//! Prints what the model makes of measurements that no constant was made from.

use blocklab_proof::accuracy::elsewhere;

fn main() {
    for row in elsewhere() {
        let error = row.error_percent();
        println!(
            "{:>9.1} {:>9} {:>8}  {} {} {}",
            row.published,
            row.ours.map_or_else(String::new, |it| format!("{it:.1}")),
            error.map_or_else(String::new, |it| format!("{it:+.1} %")),
            row.figure,
            row.address,
            row.load
        );
    }
}
