//! Many damaged files through every verb of the program: `cargo xtask mutants --count N --seed S`.
//!
//! Not part of the tests; see `cli/mutants.rs` for those.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "support/archives.rs"]
#[expect(dead_code, reason = "each test uses a part of it")]
mod archives;
#[path = "support/damage.rs"]
mod damage;
#[path = "../../lancet/tests/support/mutate/mod.rs"]
#[expect(dead_code, reason = "each test uses a part of the engine")]
mod mutate;
#[path = "../../lancet/tests/support/seeds.rs"]
mod seeds;
#[path = "support/verbs.rs"]
mod verbs;

use std::path::Path;

use damage::Limited;
use verbs::{MOST_BYTES, Verbs};

#[global_allocator]
static LIMITED: Limited<MOST_BYTES> = Limited;

fn main() {
    let verbs = Verbs::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants-of-verbs"));
    seeds::each("mutants of every verb", |seed| {
        verbs.check(seed);
        verbs.check_table(seed);
        #[cfg(feature = "sql")]
        verbs.query(seed);
    });
    verbs.judge();
}
