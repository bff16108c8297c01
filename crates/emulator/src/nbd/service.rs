//! The volumes and limits of a server, which all its connections share.

use std::sync::Arc;

use super::handshake::Export;
use super::limits::Limits;
use super::tls::Tls;
use crate::{Spin, Volume};

/// What every connection of a server knows.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) exports: Vec<Export>,
    pub(super) volumes: Vec<Arc<Volume>>,
    pub(super) limits: Limits,
    pub(super) spin: Spin,
    /// `Some`: no client is served without TLS.
    pub(super) tls: Option<Tls>,
}
