//! Which module of a crate names which other one, read from the source as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module by its path inside the crate; the root is empty.
pub type Module = Vec<String>;

/// The modules of a crate and what each one names.
#[derive(Debug, Default)]
pub struct Imports {
    /// By module, the paths that its file names, from the crate's root.
    named: BTreeMap<Module, BTreeSet<Module>>,
}

impl Imports {
    /// Reads the sources below `src`, tests left out.
    ///
    /// # Panics
    /// When a file cannot be read.
    #[must_use]
    pub fn of_crate(src: &Path) -> Self {
        let mut imports = Self::default();
        imports.read_folder(src, &mut Vec::new());
        imports.resolve_reexports();
        imports
    }

    /// Reads one module from text.
    fn add(&mut self, module: Module, text: &str) {
        let named = paths(text, &module);
        self.named.insert(module, named);
    }

    fn read_folder(&mut self, folder: &Path, inside: &mut Module) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            let stem = stem.unwrap_or_default().to_owned();
            if path.is_dir() {
                inside.push(stem);
                self.read_folder(&path, inside);
                inside.pop();
            } else if path.extension().is_some_and(|end| end == "rs") && !is_test(&stem) {
                let mut module = inside.clone();
                if !["lib", "main", "mod"].contains(&&*stem) {
                    module.push(stem);
                }
                let text = fs::read_to_string(&path).expect("a readable source file");
                self.add(module, &text);
            }
        }
    }

    /// Turns paths to items into the modules that define them, through one `pub use` of a parent.
    fn resolve_reexports(&mut self) {
        let before = self.named.clone();
        for named in self.named.values_mut() {
            *named = named
                .iter()
                .flat_map(|path| defined_in(path, &before))
                .collect();
        }
    }

    /// The module groups that reach each other in a circle. An arrow between a module and one that
    /// it contains does not count: a parent calls its children, and they take its types.
    #[must_use]
    pub fn loops(&self) -> Vec<Vec<String>> {
        let modules: Vec<&Module> = self.named.keys().collect();
        let reach: BTreeMap<&Module, BTreeSet<&Module>> = modules
            .iter()
            .map(|module| (*module, self.reached_from(module)))
            .collect();
        let mut loops: Vec<Vec<String>> = Vec::new();
        let mut seen: BTreeSet<&Module> = BTreeSet::new();
        for module in modules {
            if seen.contains(module) {
                continue;
            }
            let circle: Vec<&Module> = reach[module]
                .iter()
                .copied()
                .filter(|other| reach[other].contains(module))
                .collect();
            if circle.len() > 1 {
                seen.extend(&circle);
                loops.push(circle.iter().map(|module| module.join("::")).collect());
            }
        }
        loops
    }

    fn reached_from<'a>(&'a self, start: &'a Module) -> BTreeSet<&'a Module> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(module) = open.pop() {
            for other in &self.named[module] {
                let related = other.starts_with(module) || module.starts_with(other);
                if !related && self.named.contains_key(other) && reached.insert(other) {
                    open.push(other);
                }
            }
        }
        reached
    }
}

fn is_test(stem: &str) -> bool {
    stem == "tests" || stem == "testing" || stem.ends_with("_tests")
}

/// The module that a path leads to: the longest beginning that is one, or the child from which it
/// takes the item.
fn defined_in(path: &Module, modules: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Module> {
    let longest = (0..=path.len())
        .rev()
        .find(|len| modules.contains_key(&path[..*len]));
    let len = longest?;
    let (module, rest) = path.split_at(len);
    let Some(item) = rest.first() else {
        return Some(module.to_vec());
    };
    let through = modules[module].iter().find(|reexported| {
        reexported.len() == len + 2
            && reexported.starts_with(module)
            && reexported.last() == Some(item)
            && modules.contains_key(&reexported[..=len])
    });
    Some(through.map_or_else(|| module.to_vec(), |found| found[..=len].to_vec()))
}

/// All paths that begin with `crate`, `super` or, in a `use`, with a child, from the root.
fn paths(text: &str, module: &Module) -> BTreeSet<Module> {
    let plain = without_tests_and_comments(text);
    let mut found = BTreeSet::new();
    let mut rest = plain.as_str();
    while let Some(at) = next_start(rest) {
        let tail = &rest[at..];
        let before = rest[..at].chars().next_back();
        let is_whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':');
        if is_whole {
            collect(tail, module, &mut found);
        }
        rest = &tail[1..];
    }
    found
}

/// Where the next path may begin.
fn next_start(text: &str) -> Option<usize> {
    ["crate::", "super::", "use "]
        .iter()
        .filter_map(|word| text.find(word))
        .min()
}

fn collect(text: &str, module: &Module, found: &mut BTreeSet<Module>) {
    let (mut base, text) = match text.strip_prefix("use ") {
        // `use child::X;` in the 2018 edition and later: a child, or another crate.
        Some(text) if !text.starts_with("crate::") && !text.starts_with("super::") => {
            (module.clone(), text.strip_prefix("self::").unwrap_or(text))
        }
        Some(_) => return,
        None => (Module::new(), text),
    };
    let mut text = text;
    if let Some(tail) = text.strip_prefix("crate::") {
        (base, text) = (Module::new(), tail);
    } else if text.starts_with("super::") {
        base.clone_from(module);
        while let Some(tail) = text.strip_prefix("super::") {
            base.pop();
            text = tail;
        }
    }
    tree(text, &base, found);
}

/// Reads `a::b::{c, d::e}` behind `base`; gives what follows it.
fn tree<'t>(text: &'t str, base: &Module, found: &mut BTreeSet<Module>) -> &'t str {
    let mut path = base.clone();
    let mut text = text.trim_start();
    loop {
        if let Some(group) = text.strip_prefix('{') {
            text = group.trim_start();
            while !text.is_empty() && !text.starts_with('}') {
                text = tree(text, &path, found).trim_start();
                text = text.strip_prefix(',').unwrap_or(text).trim_start();
                if text.starts_with([';', ')', '(']) {
                    break;
                }
            }
            return text.strip_prefix('}').unwrap_or(text);
        }
        let end = text
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(text.len());
        if end == 0 {
            found.insert(path);
            return text.get(1..).unwrap_or("");
        }
        if &text[..end] != "self" {
            path.push(text[..end].to_owned());
        }
        text = &text[end..];
        match text.strip_prefix("::") {
            Some(tail) => text = tail,
            None => {
                found.insert(path);
                let renamed = text.strip_prefix(" as ");
                return renamed.map_or(text, |tail| {
                    tail.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
                });
            }
        }
    }
}

/// The source up to its test module, line comments dropped.
fn without_tests_and_comments(text: &str) -> String {
    let code = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text);
    let lines = code.lines().map(|line| {
        if line.trim_start().starts_with("//") {
            ""
        } else {
            line
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(files: &[(&[&str], &str)]) -> Vec<Vec<String>> {
        let mut imports = Imports::default();
        imports.add(Module::new(), "");
        for (module, text) in files {
            let module = module.iter().map(|part| (*part).to_owned());
            imports.add(module.collect(), text);
        }
        imports.resolve_reexports();
        imports.loops()
    }

    #[test]
    fn two_neighbours_that_name_each_other_are_a_loop() {
        let found = loops(&[
            (&["a"], "use crate::b::B;"),
            (&["b"], "use super::{a::{self, A}, c};"),
            (&["c"], "fn c() {}"),
        ]);
        assert_eq!(found, [["a", "b"]]);
    }

    #[test]
    fn a_parent_and_its_child_are_none() {
        let found = loops(&[
            (&["a"], "mod b; use b::B; pub struct A;"),
            (&["a", "b"], "use super::A;"),
        ]);
        assert_eq!(found, Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_parent_that_passes_an_item_on_hides_no_loop() {
        let found = loops(&[
            (
                &["a"],
                "mod b; mod c; pub(crate) use b::B; pub(crate) use c::C;",
            ),
            (&["a", "b"], "use super::C;"),
            (&["a", "c"], "use super::B;"),
        ]);
        assert_eq!(found, [["a::b", "a::c"]]);
    }

    #[test]
    fn tests_and_comments_do_not_count() {
        let found = loops(&[
            (&["a"], "use crate::b::B;"),
            (
                &["b"],
                "// use crate::a::A;\n#[cfg(test)]\nmod tests {\nuse crate::a::A;\n}",
            ),
        ]);
        assert_eq!(found, Vec::<Vec<String>>::new());
    }
}
