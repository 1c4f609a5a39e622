//! Panics of libraries as errors.
//!
//! The libraries that read and write foreign formats panic on some damaged files. That must not look like a crash of
//! lancet, and must not leave half a file behind.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

use crate::error::{Error, Result};

thread_local! {
    /// How many guards this thread is in.
    static GUARDS: Cell<usize> = const { Cell::new(0) };
}

/// What the last panic said, and where. It may have been on a thread that another waits for.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Runs `work`; a panic becomes an error, which says what it is `about`, and nothing is printed.
pub fn guarded<T>(about: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    install();
    GUARDS.set(GUARDS.get() + 1);
    // What `work` had in its hands is dropped, not used again.
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDS.set(GUARDS.get().saturating_sub(1));
    result.unwrap_or_else(|_| Err(Error::new(format!("{about} ({})", last_panic()))))
}

/// What the last panic said, and where.
pub fn last_panic() -> String {
    std::mem::take(&mut *LAST.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Keeps this thread quiet, for as long as it lives: who waits for it tells of its panics.
#[cfg(feature = "sql")]
pub fn quiet_thread() {
    install();
    GUARDS.set(GUARDS.get() + 1);
}

/// The hook of the process, which keeps quiet for threads under a guard.
fn install() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if GUARDS.get() == 0 {
                return before(panic);
            }
            let said = panic.payload_as_str().unwrap_or("no message");
            let said: String = said.chars().take(200).collect();
            let at = panic.location().map_or_else(String::new, |at| {
                let file = at.file().rsplit(['/', '\\']).next().unwrap_or_default();
                format!(", {file}:{}", at.line())
            });
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            *LAST.lock().unwrap_or_else(PoisonError::into_inner) = format!("{said}{at}");
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let nothing: Vec<u8> = Vec::new();
        let message = match guarded("damaged", || Ok(nothing[7])) {
            Err(Error::Message(message)) => message,
            _ => panic!("went well"),
        };
        assert!(message.starts_with("damaged (index out of bounds"), "{message}");
        assert!(message.contains("guard.rs:"), "{message}");
        assert!(guarded("damaged", || Ok(7)).is_ok());
        #[cfg(feature = "sql")]
        {
            let thread = std::thread::spawn(move || {
                quiet_thread();
                nothing[8]
            });
            assert!(thread.join().is_err());
            let said = last_panic(); // and not printed
            assert!(said.contains("the index is 8, guard.rs:"), "{said}");
        }
    }
}
