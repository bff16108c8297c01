/// A struct whose fields have their default values: its `Default`.
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
