//! In: a JSON value. Out: its text as YAML 1.2 in block style, as people write manifests.

use serde_json::Value;

/// The text of a value, with a newline at the end.
pub(crate) fn text(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

/// Appends a value in block style, each line indented by this number of blanks.
fn block(value: &Value, indent: usize, out: &mut String) {
    let margin = " ".repeat(indent);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                out.push_str(&format!("{margin}{}:", scalar(&Value::from(name.as_str()))));
                field_value(value, indent, out);
            }
        }
        Value::Array(values) if !values.is_empty() => {
            for value in values {
                let mut item = String::new();
                block(value, indent + 2, &mut item);
                // The first line follows the dash.
                out.push_str(&format!("{margin}- {}", item.trim_start()));
            }
        }
        value => out.push_str(&format!("{margin}{}\n", scalar(value))),
    }
}

/// Appends the value of a field after its name: in the same line, or in lines below it.
fn field_value(value: &Value, indent: usize, out: &mut String) {
    let is_block = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(values) => !values.is_empty(),
        _ => false,
    };
    if is_block {
        out.push('\n');
        block(value, indent + 2, out);
    } else {
        out.push_str(&format!(" {}\n", scalar(value)))
    }
}

/// A string is plain only if no reader can take it for something else, and otherwise quoted as in
/// JSON, which is YAML too.
fn scalar(value: &Value) -> String {
    const WORDS: [&str; 10] = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan",
    ];
    let Value::String(text) = value else {
        return value.to_string();
    };
    let is_bare = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "./-_".contains(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_bare {
        text.clone()
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let value = json!({
            "plain": "gp3", "no": "no", "number": 5, "text number": "5", "null": null,
            "empty": {}, "none": [], "path": "/data", "colon": "a: b", "lines": "a\nb\u{1b}",
            "list": [{"a": 1, "b": {"c": [true, "x"]}}, [1, [2]], "- dash", ""],
        });
        let text = text(&value);
        let read: Value =
            serde_yaml_ng::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(read, value, "{text}");
    }
}
