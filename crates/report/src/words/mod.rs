//! In: a Record, its findings and comparisons.
//! Out: the words and figures in which people read them, the same in a Document and on a page.

mod amounts;
pub mod answer;
pub mod delivered;
pub mod evidence;
pub mod facts;
pub mod figures;
pub mod history;
pub mod model;
pub mod shown;
pub mod versus;
