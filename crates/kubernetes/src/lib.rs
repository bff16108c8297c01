//! In: a measurement for a cluster; a storage class and a node as kubectl prints them.
//! Out: a manifest for `kubectl apply`; the address of the volume that class and node promise.
//! Never: connects to a cluster, or adds a number that the class does not name.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod manifest;
mod offer;
mod yaml;

pub use manifest::{Measurement, manifest};
pub use offer::address;

/// A name that Kubernetes would refuse, or an object that does not identify a volume.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mistake(pub String);
