use serde::ser::{Serialize, SerializeMap, Serializer};

use super::bleu::Bleu;

/// A score under the field names of sacreBLEU's JSON, so that what reads one reads the other.
///
/// `name`, `score`, `signature` and `verbose_score`, then the parts of the signature (`nrefs`, `case`, `eff`, `tok`,
/// `smooth`, `version`) as strings. `score` is not rounded; sacreBLEU rounds it to the width asked for.
#[derive(Debug, Clone, Copy)]
pub struct SacrebleuJson<'a>(pub &'a Bleu);

impl Serialize for SacrebleuJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", "BLEU")?;
        map.serialize_entry("score", &self.0.score)?;
        map.serialize_entry("signature", &self.0.signature)?;
        map.serialize_entry("verbose_score", &self.0.details())?;
        for (name, value) in self.0.signature.split('|').filter_map(|part| part.split_once(':')) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
