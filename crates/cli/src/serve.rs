//! `blocklab serve`: an HTTP server for the stored runs, reached with a token.

use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use blocklab_console::{end_by_interrupt, place, terminal};
use blocklab_store::Store;
use blocklab_web::{ENTER_PATH, Server, Token};

use blocklab_args::ServeArgs;

mod views;

/// Serves until a signal comes.
pub fn serve(args: &ServeArgs, store: Store) -> Result<()> {
    let token = match &args.token_file {
        Some(path) => token_of(path)?,
        None => Token::draw().context("the system has no random bits for a token")?,
    };
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let address = args.listen.unwrap_or(local);
    let server = Server::listen(store, address, token).with_context(|| {
        format!("cannot listen at {address}: choose another --port, or none for any that is free")
    })?;
    let at = server.address();
    // A drawn token is found nowhere else. One from a file is not printed: whoever may have it can read
    // the file.
    let shown = match &args.token_file {
        Some(path) => format!(
            "http://{at}{ENTER_PATH}#t=… with the token in {}",
            path.display()
        ),
        None => format!("http://{at}{ENTER_PATH}#t={}", server.token()),
    };
    terminal::print(format!("{shown}\n"))?;
    end_by_interrupt();
    if args.open {
        open(&format!(
            "http://{at}{ENTER_PATH}#t={}",
            server.one_time_token()?
        ));
    }
    server
        .serve(views::more())
        .context("the server cannot go on")
}

/// How much is read of a token file: more than any token, so that a wrong file of any size is refused.
const LONGEST: u64 = 4096;

/// The token in a file, which must be readable by its owner alone.
fn token_of(path: &Path) -> Result<Token> {
    let doing = || format!("cannot read the token file {}", path.display());
    let file = File::open(path).with_context(doing)?;
    let facts = file.metadata().with_context(doing)?;
    if !facts.is_file() {
        bail!("the token file {} is no file", path.display());
    }
    if facts.mode() & 0o077 != 0 {
        bail!(
            "others may read the token file {}: `chmod 600 {}`",
            path.display(),
            place::shell_word(&path.display().to_string())
        );
    }
    let mut text = String::new();
    file.take(LONGEST)
        .read_to_string(&mut text)
        .with_context(doing)?;
    Token::from_text(&text).with_context(|| {
        format!(
            "the token file {} holds no token: at least 22 letters or digits in one line, such as \
             `openssl rand -hex 16` prints",
            path.display()
        )
    })
}

/// Opens a browser. Without one, the printed address is enough, so a failure is only a warning. Every
/// user can read `address` in the list of processes; its key is valid once, for this browser.
fn open(address: &str) {
    let mut command = Command::new("xdg-open");
    command
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        terminal::warn(&format!("no browser was opened (xdg-open: {error})"));
    }
}
