//! Text that looks like text: words of uneven frequency.

use super::random::Random;

/// Words made of syllables, the first ones used most.
pub struct Words(Vec<String>);

impl Words {
    pub fn new(random: &mut Random, count: usize) -> Self {
        const SYLLABLES: [&str; 24] = [
            "an", "be", "con", "de", "er", "fa", "gen", "ho", "in", "ka", "lo", "men", "no", "or",
            "per", "qua", "ri", "sta", "ti", "u", "ver", "wi", "xo", "za",
        ];
        let word = |random: &mut Random| {
            (0..1 + random.below(4)).map(|_| *random.pick(&SYLLABLES)).collect::<String>()
        };
        Self((0..count).map(|_| word(random)).collect())
    }

    pub fn word(&self, random: &mut Random) -> &str {
        &self.0[random.skewed(self.0.len() as u64) as usize]
    }

    /// Appends words until `text` has at least `bytes` bytes.
    pub fn fill(&self, random: &mut Random, text: &mut String, bytes: usize) {
        while text.len() < bytes {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(self.word(random));
        }
    }
}
