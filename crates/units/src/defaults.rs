//! In: a struct whose fields carry their default values. Out: the struct and its `Default`, so that
//! a field and its default are written in one place.

/// Defines a struct, and its `Default` from the value that each field names.
#[macro_export]
macro_rules! with_defaults {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident {
        $(
            $(#[$field_attribute:meta])*
            $field_visibility:vis $field:ident: $type:ty = $default:expr,
        )*
    }) => {
        $(#[$attribute])*
        $visibility struct $name {
            $($(#[$field_attribute])* $field_visibility $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}
