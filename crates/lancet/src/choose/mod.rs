//! Which form a page gets: every form that is legal is a candidate, the cheapest is taken.
//!
//! | file | what |
//! |---|---|
//! | `cost` | bytes and time as one number, by profile |
//! | `sample` | the size of a form, learned from a few chunks |
//! | `numbers`, `strings`, `dictionary`, `nested` | the candidates of each kind of values |
//!
//! The same values and settings always give the same choice.

mod cost;
mod dictionary;
mod entries;
mod nested;
mod numbers;
mod sample;
mod strings;

use std::cell::OnceCell;

use cost::Cost;
use strings::Symbols;

use crate::codec::{Encoding, FixedValues, Scheme, Values, VariableValues};
use crate::error::{Error, Result};
use crate::measure::{Measures, NumberMeasures, estimate_distinct};
use crate::options::{Compression, Profile, Settings, StructuralEncoding};
use crate::page::mini_block::encode::ChunkSize;
use crate::page::rules::Rules;

/// Values of this many bytes and more get rows of their own.
const WIDE_BYTES: usize = 256;

/// A value that a page would hold once, and as it is, has to be cheaper than what else there is from
/// this many bytes on: it may compress.
const LONG_CONSTANT_BYTES: usize = 4096;
/// A longer value is never what a page holds once: readers keep that with the indexes of pages, beside
/// the rows that they read.
const MAX_CONSTANT_BYTES: usize = 8 << 10;

/// Where one string in this many is a new one, a dictionary is tried first; if it takes half of the
/// plain form, nothing else is.
const FEW_STRINGS: usize = 3;

/// The form of a page, and why it has it.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) form: Form,
    pub(crate) reason: String,
    /// All forms that were considered.
    pub(crate) candidates: Vec<Candidate>,
}

/// How the values of a page are stored.
#[derive(Debug)]
pub(crate) enum Form {
    /// All values are null.
    AllNull,
    /// All values that are not null equal the one at this position.
    Constant(usize),
    /// Chunks of values.
    MiniBlock(MiniBlockForm),
    /// Rows that are read by themselves. Where strings are coded, `values` are the codes.
    FullZip { encoding: Encoding, values: Option<Values> },
}

/// A page of chunks.
#[derive(Debug)]
pub(crate) struct MiniBlockForm {
    pub(crate) encoding: Encoding,
    pub(crate) chunk_size: ChunkSize,
    /// What replaces the values: coded strings, or indices into the dictionary.
    pub(crate) values: Option<Values>,
    pub(crate) dictionary: Option<(Encoding, Values)>,
}

/// A form that was considered for a page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The form in words.
    pub encoding: String,
    /// Bytes that its values would take, levels not counted; estimated.
    pub bytes: u64,
}

/// What a page is chosen for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) values: &'a Values,
    pub(crate) measures: &'a Measures,
    /// Which values are not null; all, if absent.
    pub(crate) valid: Option<&'a [bool]>,
    pub(crate) settings: &'a Settings,
    pub(crate) rules: Rules,
}

/// Chunks in one encoding, and their cost.
#[derive(Debug)]
struct Considered {
    encoding: Encoding,
    chunk_size: ChunkSize,
    cost: Cost,
}

/// A form before the work it asks for is done.
#[derive(Debug)]
enum Draft {
    Chunks { encoding: Encoding, chunk_size: ChunkSize },
    Rows(Encoding),
    Dictionary(Box<MiniBlockForm>),
    Constant(usize),
}

/// Chooses the form of a page that has values.
pub(crate) fn choose(subject: Subject<'_>) -> Result<Choice> {
    let Subject { values, measures, rules, .. } = subject;
    if let Values::Nothing { .. } = values {
        return Ok(Choice::forced(Form::AllNull, "there is nothing to store"));
    }
    let is_short = measures.max_value_bytes <= MAX_CONSTANT_BYTES;
    let constant = measures.constant.filter(|_| rules.scalar_constants && is_short);
    let may_compress =
        matches!(values, Values::Variable(_)) && measures.max_value_bytes >= LONG_CONSTANT_BYTES;
    if let Some(position) = constant.filter(|_| !may_compress) {
        return Ok(Choice::forced(Form::Constant(position), "all values are the same"));
    }
    let mut contest = Contest {
        settings: subject.settings,
        best: None,
        candidates: Vec::new(),
        distinct: OnceCell::new(),
    };
    let symbols = match values {
        Values::Fixed(fixed) => choose_fixed(fixed, subject, &mut contest).map(|()| None),
        Values::Variable(variable) => choose_variable(variable, subject, &mut contest),
        _ => nested::choose(subject, &mut contest).map(|()| None),
    }?;
    if let Some(position) = constant {
        let scan_ns = values.size_bytes() as f64 * cost::COPY_NS;
        let bytes = measures.max_value_bytes as f64;
        contest.enter(Draft::Constant(position), Cost { bytes, scan_ns, ..Cost::default() });
    }
    contest.decide(values, symbols.as_ref())
}

/// The form of an Arrow dictionary: its keys and its entries.
pub(crate) fn choose_dictionary_column(
    keys: Values,
    items: Values,
    settings: &Settings,
    rules: Rules,
) -> Result<Choice> {
    let (encoding, _) = dictionary::items_form(&items, settings)?;
    let (indices, _) = dictionary::indices_form(&keys, keys.size_bytes(), settings, rules)?;
    let form = MiniBlockForm {
        encoding: indices.encoding,
        chunk_size: indices.chunk_size,
        values: Some(keys),
        dictionary: Some((encoding, items)),
    };
    Ok(Choice::forced(Form::MiniBlock(form), "the column is a dictionary"))
}

/// A compressor to try on levels. They take a bit or two each, and unpacking a compressed one costs
/// a scan more than that is worth, except where size is all that counts.
pub(crate) fn level_compression(settings: &Settings) -> Option<(Scheme, Option<i32>)> {
    settings.schemes().pop().filter(|_| settings.is_by_size())
}

fn choose_fixed(
    fixed: &FixedValues,
    subject: Subject<'_>,
    contest: &mut Contest<'_>,
) -> Result<()> {
    let Subject { values, measures, valid, settings, rules } = subject;
    if settings.options.compression == Some(Compression::Fsst) {
        return Err(Error::invalid(
            "`lance-encoding:compression` = `fsst` is for strings and bytes; for numbers allowed \
             are none, lz4, zstd",
        ));
    }
    let wide = measures.max_value_bytes >= WIDE_BYTES;
    if full_zip(wide, settings) {
        let bits = fixed.bits().next_multiple_of(8);
        contest.enter(Draft::Rows(Encoding::Flat { bits }), raw_cost(values));
        return Ok(());
    }
    for form in numbers::number_forms(values, measures.numbers, settings, rules)? {
        let Considered { encoding, chunk_size, cost } = form;
        contest.enter(Draft::Chunks { encoding, chunk_size }, cost);
    }
    if measures.numbers.is_some_and(|measures| contest.indices_cost_more(values, measures)) {
        return Ok(());
    }
    contest.enter_dictionary(values, valid, rules)
}

fn choose_variable(
    variable: &VariableValues,
    subject: Subject<'_>,
    contest: &mut Contest<'_>,
) -> Result<Option<Symbols>> {
    let Subject { values, measures, valid, settings, rules } = subject;
    let longest = measures.max_value_bytes;
    let wide = longest >= WIDE_BYTES;
    let rows = full_zip(wide, settings);
    let forced = settings.options.structural_encoding;
    let dictionary = forced != Some(StructuralEncoding::FullZip)
        && settings.options.compression != Some(Compression::Fsst);
    let by_size = settings.profile == Profile::Small || settings.options.compression.is_some();
    let few = dictionary && !by_size && contest.distinct(values) <= values.len() / FEW_STRINGS;
    if few {
        let plain = strings::plain_form(variable, settings);
        let to_beat = settings.score(plain.1) / 2.0;
        contest.enter(plain.0, plain.1);
        contest.enter_dictionary(values, valid, rules)?;
        if contest.best.as_ref().is_some_and(|(score, _)| *score < to_beat) {
            return Ok(None);
        }
    }
    let symbols = Symbols::train(variable, settings)?;
    if rows {
        for (draft, cost) in
            strings::row_forms(variable, symbols.as_ref(), valid.is_some(), settings)?
        {
            contest.enter(draft, cost);
        }
    }
    if !rows || (forced.is_none() && strings::may_chunk(variable, longest, settings)) {
        for (draft, cost) in strings::chunk_forms(values, symbols.as_ref(), settings, rules)? {
            contest.enter(draft, cost);
        }
    }
    if dictionary && !few {
        contest.enter_dictionary(values, valid, rules)?;
    }
    Ok(symbols)
}

/// Whether rows are to be read by themselves.
fn full_zip(wide: bool, settings: &Settings) -> bool {
    match settings.options.structural_encoding {
        Some(encoding) => encoding == StructuralEncoding::FullZip,
        None => wide,
    }
}

fn raw_cost(values: &Values) -> Cost {
    Cost { bytes: values.size_bytes() as f64, ..Cost::default() }
}

/// An encoding under a general compressor.
fn general((scheme, level): (Scheme, Option<i32>), values: &Encoding) -> Encoding {
    Encoding::General { scheme, level, values: Box::new(values.clone()) }
}

/// The cheapest of several forms; of equal ones the first.
fn best(forms: Vec<Considered>, settings: &Settings) -> Result<Considered> {
    let cheapest = forms.into_iter().reduce(|best, form| {
        if settings.score(form.cost) < settings.score(best.cost) { form } else { best }
    });
    cheapest.ok_or_else(|| Error::invalid("values without a form"))
}

/// Candidates as they come in, and the cheapest so far.
#[derive(Debug)]
struct Contest<'a> {
    settings: &'a Settings,
    best: Option<(f64, Draft)>,
    candidates: Vec<Candidate>,
    /// About how many different values there are, once somebody asked.
    distinct: OnceCell<usize>,
}

impl Contest<'_> {
    fn distinct(&self, values: &Values) -> usize {
        *self.distinct.get_or_init(|| estimate_distinct(values))
    }

    fn enter(&mut self, draft: Draft, cost: Cost) {
        self.candidates.push(Candidate { encoding: draft.describe(), bytes: cost.bytes as u64 });
        let score = self.settings.score(cost);
        if self.best.as_ref().is_none_or(|(best, _)| score < *best) {
            self.best = Some((score, draft));
        }
    }

    /// Whether indices into a dictionary of numbers, packed, already cost more than what is there.
    /// Runs of them might cost less.
    fn indices_cost_more(&self, values: &Values, measures: NumberMeasures) -> bool {
        let len = values.len();
        if self.settings.is_by_size() || measures.runs < len / 4 {
            return false;
        }
        let index_bits = self.distinct(values).max(2).next_power_of_two().ilog2() as usize;
        let lookup = dictionary::lookup_cost(len, values.size_bytes());
        let least = Cost { bytes: (len * index_bits / 8) as f64, ..lookup };
        self.best.as_ref().is_some_and(|(best, _)| *best < self.settings.score(least))
    }

    /// A dictionary, if it may be cheaper than what is there.
    fn enter_dictionary(
        &mut self,
        values: &Values,
        valid: Option<&[bool]>,
        rules: Rules,
    ) -> Result<()> {
        let to_beat = self.best.as_ref().map_or(f64::MAX, |(best, _)| *best);
        let distinct = || self.distinct(values);
        let found =
            dictionary::dictionary_form(values, valid, self.settings, rules, distinct, to_beat)?;
        if let Some((form, cost)) = found {
            self.enter(Draft::Dictionary(Box::new(form)), cost);
        }
        Ok(())
    }

    fn decide(self, values: &Values, symbols: Option<&Symbols>) -> Result<Choice> {
        let Some((_, draft)) = self.best else {
            return Err(Error::unsupported("values without a form"));
        };
        let reason = match (self.candidates.len(), self.settings.options.compression) {
            (1, _) => "the only form it may have".into(),
            (n, Some(compression)) => format!("smallest of {n} forms with {compression}"),
            (n, None) => {
                format!("cheapest of {n} forms by size and time ({})", self.settings.profile)
            }
        };
        let asked = self.settings.options.compression == Some(Compression::Fsst);
        // The encoding with what replaces the values. A sample may have promised too much: then the
        // strings stay as they are.
        let coded = |encoding: Encoding| match (encoding, values, symbols) {
            (Encoding::Fsst { table, values }, Values::Variable(variable), Some(symbols)) => {
                let coded = symbols.encode(variable)?;
                if coded.bytes.len() >= variable.bytes.len() && !asked {
                    return Ok((*values, None));
                }
                Ok((Encoding::Fsst { table, values }, Some(Values::Variable(coded))))
            }
            (encoding, ..) => Ok::<_, Error>((encoding, None)),
        };
        let form = match draft {
            Draft::Chunks { encoding, chunk_size } => {
                let (encoding, values) = coded(encoding)?;
                Form::MiniBlock(MiniBlockForm { encoding, chunk_size, values, dictionary: None })
            }
            Draft::Rows(encoding) => {
                let (encoding, values) = coded(encoding)?;
                Form::FullZip { encoding, values }
            }
            Draft::Dictionary(form) => Form::MiniBlock(*form),
            Draft::Constant(position) => Form::Constant(position),
        };
        Ok(Choice { form, reason, candidates: self.candidates })
    }
}

impl Draft {
    fn describe(&self) -> String {
        match self {
            Self::Chunks { encoding, .. } => encoding.describe(),
            Self::Rows(encoding) => format!("rows, {}", encoding.describe()),
            Self::Constant(_) => "one value".into(),
            Self::Dictionary(form) => match &form.dictionary {
                Some((items, values)) => format!(
                    "dictionary of {} ({}), indices {}",
                    values.len(),
                    items.describe(),
                    form.encoding.describe()
                ),
                None => form.encoding.describe(),
            },
        }
    }
}

impl Choice {
    /// A choice without alternatives.
    fn forced(form: Form, reason: &str) -> Self {
        Self { form, reason: reason.into(), candidates: Vec::new() }
    }
}
