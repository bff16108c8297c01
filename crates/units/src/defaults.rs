//! In: a struct whose fields carry their default values. Out: the struct and its `Default`, so that
//! a field and its default are written in one place.

/// Defines a struct, and its `Default` from the value that each field names.
#[macro_export]
macro_rules! with_defaults {
    ($(#[$about:meta])* $seen:vis struct $name:ident {
        $($(#[$doc:meta])* $shown:vis $field:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$about])*
        $seen struct $name {
            $($(#[$doc])* $shown $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}
