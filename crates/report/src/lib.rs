//! In: Records and their findings; intervals while a run lasts.
//! Out: text, Markdown, JSON, one HTML file; a live screen on a terminal.
//! Never: computes a statistic, judges a figure, opens a network connection.

// `fields!` gives the type of a field the name of the field.
#![allow(non_camel_case_types)]

pub mod calibration;
pub mod document;
pub mod html;
pub mod json;
pub mod junit;
pub mod live;
pub mod observed;
pub mod price;
pub mod prometheus;
pub mod views;

mod answer;
mod delivered;
mod evidence;
mod facts;
mod fields;
mod figures;
mod model;
mod shown;
mod versus;
