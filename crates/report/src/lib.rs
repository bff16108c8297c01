//! In: Records and their findings; intervals while a run lasts.
//! Out: Documents, printed as text, Markdown, HTML; JSON; a live screen on a terminal; the words
//! and figures that the page of a run says too.
//! Never: computes a statistic, judges a figure, opens a network connection.

// `fields!` gives the type of a field the name of the field.
#![allow(non_camel_case_types)]

pub mod advice;
pub mod calibration;
pub mod document;
pub mod json;
pub mod junit;
pub mod live;
pub mod observed;
pub mod price;
pub mod prometheus;
pub mod views;
pub mod words;

mod fields;
