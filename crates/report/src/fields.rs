//! Objects of JSON without a type for each.

/// An object with these fields, in this order: each has the type of its value.
#[macro_export]
macro_rules! fields {
    ($($(#[$rule:meta])* $name:ident: $value:expr),* $(,)?) => {{
        #[derive(serde::Serialize)]
        struct Object<$($name),*> {
            $($(#[$rule])* $name: $name),*
        }
        Object { $($name: $value),* }
    }};
}
