//! In: Records and their findings; intervals while a run lasts.
//! Out: Documents, printed as text, Markdown or HTML; JSON, JUnit and Prometheus for other programs;
//! a live screen on a terminal; and the words and figures that a page with charts shares.
//! Never: computes a statistic, judges a figure, opens a network connection.

// `fields!` names the type parameter of a field after the field.
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
