//! No text crashes the address grammar; what is read is shown so that it reads back as the same;
//! a mistake lies within the text; and whatever is asked for is a device or a refusal.
#![no_main]

use blocklab_catalog::{Address, Catalog, describe};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Address::parse(text) {
        Ok(Address::File(_)) => (),
        Ok(address) => {
            let shown = address.to_string();
            let again = Address::parse(&shown).expect("what is shown reads back");
            assert_eq!(address, again, "{shown}");
            // A profile names a file, and fuzzing reads none.
            if !shown.contains("profile=") {
                let _ = describe(text, &Catalog::embedded());
            }
        }
        Err(error) => {
            assert!(text.get(error.at.clone()).is_some());
            let _ = error.to_string();
        }
    }
});
