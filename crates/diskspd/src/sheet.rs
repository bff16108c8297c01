//! The lines of an XML document as DiskSpd lays it out.

/// XML as DiskSpd lays it out: two blanks a level.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) text: String,
    depth: usize,
}

impl Sheet {
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn leaf(&mut self, name: &str, value: impl std::fmt::Display) {
        let value = escaped(&value.to_string());
        self.line(&format!("<{name}>{value}</{name}>"));
    }

    pub(super) fn figure(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.leaf(name, format_args!("{value:.3}"));
        }
    }

    pub(super) fn nest(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("<{name}>"));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        let name = name.split(' ').next().unwrap_or(name);
        self.line(&format!("</{name}>"));
    }
}

/// Text that XML takes for nothing but text; what it cannot hold at all is left out.
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
