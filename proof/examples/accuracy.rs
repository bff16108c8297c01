//! Prints how near the model comes to what was published: the page `docs/accuracy.md`.

use blocklab_proof::accuracy::{Study, elsewhere, page, repeat_all};

fn main() {
    print!("{}", page(&repeat_all(&Study::all()), &elsewhere()));
}
