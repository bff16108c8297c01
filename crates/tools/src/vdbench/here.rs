//! Which names and addresses are this machine's.

use std::fs;
use std::net::{IpAddr, UdpSocket};

/// Whether a name or an address is this machine's. No name server is asked.
pub fn is_here(name: &str) -> bool {
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    match name.parse::<IpAddr>() {
        // A socket can be bound to the machine's own addresses only; to `any`, too, but that is
        // no address of a host.
        Ok(address) => !address.is_unspecified() && UdpSocket::bind((address, 0)).is_ok(),
        Err(_) => {
            let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            is_name_of(name, own.trim())
        }
    }
}

/// The full name and its first part are one name.
fn is_name_of(name: &str, own: &str) -> bool {
    let same = |own: &str| !own.is_empty() && name.eq_ignore_ascii_case(own);
    same(own) || own.split_once('.').is_some_and(|(first, _)| same(first))
}

#[cfg(test)]
mod tests {
    use super::{is_here, is_name_of};

    #[test]
    fn this_machine_has_several_names() {
        assert!(is_here("localhost") && is_here("127.0.0.1"));
        // Of the addresses that documentation may use; no machine has them.
        assert!(!is_here("192.0.2.1") && !is_here("0.0.0.0") && !is_here(""));
        assert!(is_name_of("bench7", "bench7.example.org"));
        assert!(is_name_of("Bench7.example.org", "bench7.example.org"));
        assert!(!is_name_of("bench", "bench7.example.org") && !is_name_of("", ""));
    }
}
