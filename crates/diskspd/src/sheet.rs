//! The lines of an XML document as DiskSpd lays it out.

/// XML as DiskSpd lays it out: an element a line, indented by two blanks a level.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) text: String,
    /// Elements that are open.
    depth: usize,
}

impl Sheet {
    /// A line of XML as it is, at the current level.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// An element with a value, which is escaped.
    pub(super) fn leaf(&mut self, name: &str, value: impl std::fmt::Display) {
        let value = escaped(&value.to_string());
        self.line(&format!("<{name}>{value}</{name}>"));
    }

    /// An element with three decimals; nothing without a value.
    pub(super) fn figure(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.leaf(name, format_args!("{value:.3}"));
        }
    }

    /// An element with elements inside. `tag` is its name, with its attributes after it.
    pub(super) fn nest(&mut self, tag: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("<{tag}>"));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        let name = tag.split(' ').next().unwrap_or(tag);
        self.line(&format!("</{name}>"));
    }
}

/// The text with entities for the characters that mean something in XML, blanks for line breaks and
/// tabs, and without control characters, which XML 1.0 cannot hold.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            control if control.is_control() => {}
            other => safe.push(other),
        }
    }
    safe
}
