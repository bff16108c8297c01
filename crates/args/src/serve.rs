//! Arguments of `blocklab serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

const SERVE_EXAMPLES: &str = "\
Examples:
  blocklab serve                     print an address; open it in a browser of this machine
  blocklab serve --open              ... and open it
  blocklab serve --port 7411 --token-file ~/.config/blocklab/token
  blocklab serve --listen 10.0.0.7:7411 --token-file /etc/blocklab/token
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7411/runs.json

The pages show what is stored, and runs while they last; they change nothing. The address holds a \
token that is new at every start: who has it can read. Ctrl-C ends the server. Without --listen only \
this machine can connect. A token file holds at least 22 letters or digits, and only its owner may \
read it (`openssl rand -hex 16 > token; chmod 600 token`). Beyond this machine nothing is encrypted: \
put a proxy with TLS in front of it, or use `ssh -L 7411:127.0.0.1:7411 HOST`.";

/// `blocklab serve`.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct ServeArgs {
    /// Port on this machine (default: any that is free)
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub port: u16,
    /// Open the pages in the browser
    #[arg(long)]
    pub open: bool,
    /// Listen at this address instead of this machine alone
    #[arg(
        long,
        value_name = "ADDR:PORT",
        requires = "token_file",
        conflicts_with = "port",
        value_parser = listened
    )]
    pub listen: Option<SocketAddr>,
    /// Use the token in this file instead of a new one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
}

/// Parses the address and port to listen at.
fn listened(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "write an address with its port, such as 10.0.0.7:7411".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: `--listen 0.0.0.0` was an "invalid socket address syntax", without one that is valid.
    #[test]
    fn an_address_without_a_port_is_answered_with_one() {
        let why = listened("0.0.0.0").expect_err("no port");
        assert!(why.contains("10.0.0.7:7411"), "{why}");
        assert!(listened("[::]:80").is_ok());
    }
}
