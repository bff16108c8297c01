//! In: Records and what is said of them; intervals while a run lasts.
//! Out: text, JSON, one HTML file; a live screen on a terminal.
//! Never: computes a statistic, judges a figure, opens a network connection.

pub mod html;
pub mod json;
pub mod live;
pub mod text;

mod delivered;
mod evidence;
mod facts;
mod model;
mod shown;
#[cfg(test)]
mod testing;
mod versus;
