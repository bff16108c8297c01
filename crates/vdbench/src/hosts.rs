//! `hd=`: only this machine runs, whatever it is called.

use super::known::Known;
use super::mistake::Mistake;
use super::parameter::Parameter;

/// The host definition of the parameters.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// The name of the one that was defined.
    label: Option<String>,
    /// Its name stands where an address is missing, and it is no name of this machine. The
    /// mistake, until an address follows.
    elsewhere: Option<Mistake>,
    /// Parameters of `hd=default` come now.
    is_default: bool,
    /// `hd=default` has an address of this machine, which those have that give none.
    is_default_here: bool,
}

impl Hosts {
    /// The name that reports carry.
    pub(super) fn label(&self) -> &str {
        self.label.as_deref().unwrap_or("localhost")
    }

    /// `hd=NAME`. The name is the address, too, unless `system=` follows.
    pub(super) fn begin(
        &mut self,
        parameter: &Parameter,
        name: &str,
        is_here: &dyn Fn(&str) -> bool,
    ) -> Result<(), Mistake> {
        self.finish()?;
        self.is_default = name == "default";
        if self.is_default {
            return Ok(());
        }
        if let Some(first) = &self.label {
            return Err(parameter.wrong(format!(
                "hd={first} and hd={name}: several hosts at once are not run; one of them would \
                 work"
            )));
        }
        self.label = Some(name.to_owned());
        let is_here = self.is_default_here || is_here(name);
        self.elsewhere = (!is_here).then(|| elsewhere(parameter, name));
        Ok(())
    }

    /// `system=ADDRESS` of the definition that began last.
    pub(super) fn system(
        &mut self,
        known: &Known<'_>,
        is_here: &dyn Fn(&str) -> bool,
    ) -> Result<(), Mistake> {
        let address = known.word();
        if !is_here(&address) {
            return Err(elsewhere(known.parameter, &address));
        }
        match self.is_default {
            true => self.is_default_here = true,
            false => self.elsewhere = None,
        }
        Ok(())
    }

    /// The host definitions are over.
    pub(super) fn finish(&mut self) -> Result<(), Mistake> {
        self.elsewhere.take().map_or(Ok(()), Err)
    }

    /// `host=` of a storage or workload definition.
    pub(super) fn check(&self, known: &Known<'_>) -> Result<(), Mistake> {
        let words = known.words();
        let is_known = |word: &&String| ["*", "default", self.label()].contains(&word.as_str());
        match words.iter().find(|word| !is_known(word)) {
            None => Ok(()),
            Some(name) if name == "localhost" => Ok(()),
            Some(name) => Err(elsewhere(known.parameter, name)),
        }
    }
}

fn elsewhere(parameter: &Parameter, name: &str) -> Mistake {
    parameter.wrong(format!(
        "only this host runs, and {name} is another; localhost, 127.0.0.1 or this machine's own \
         name would work. Several hosts at once are not run"
    ))
}
