//! JSON objects without a declared type for each.

/// A value that serializes as an object with these fields, in this order. Serde attributes such as
/// `#[serde(flatten)]` are allowed before a field.
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
