//! Ctrl-C stops what runs, and what runs cleans up.

use std::future::Future;
use std::pin::pin;

use futures::future::{Either, select};
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::error::{Error, Result};

/// Presses after which the program ends at once, whatever it leaves behind.
const PATIENCE: usize = 3;

/// How often Ctrl-C was pressed since the last statement began.
#[derive(Debug, Clone)]
pub(super) struct Interrupt {
    pressed: watch::Sender<usize>,
}

impl Interrupt {
    /// From now on Ctrl-C does not end the program.
    pub(super) fn listen() -> std::io::Result<Self> {
        let pressed = watch::Sender::new(0_usize);
        let sender = pressed.clone();
        // A runtime of its own: the threads of the other one are busy when it matters.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // The first look is what asks the system for the signal. The editor of the shell puts back
        // whatever was asked for before it began, so this may not come later.
        let mut next = Box::pin(tokio::signal::ctrl_c());
        let _ = runtime.block_on(async { futures::poll!(next.as_mut()) });
        std::thread::Builder::new().name("ctrl-c".into()).spawn(move || {
            while runtime.block_on(next.as_mut()).is_ok() {
                next = Box::pin(tokio::signal::ctrl_c());
                sender.send_modify(|times| *times = times.saturating_add(1));
                if *sender.borrow() >= PATIENCE {
                    crate::signals::clean_up();
                    std::process::exit(130);
                }
            }
        })?;
        Ok(Self { pressed })
    }

    /// What was pressed before is not meant for what begins now.
    pub(super) fn reset(&self) {
        self.pressed.send_replace(0);
    }

    /// The result, or an error as soon as Ctrl-C is pressed.
    pub(super) async fn or_stop<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let mut pressed = self.pressed.subscribe();
        let stop = pin!(pressed.wait_for(|times| *times > 0));
        match select(stop, pin!(work)).await {
            Either::Left(_) => Err(Error::new("interrupted")),
            Either::Right((result, _)) => result,
        }
    }
}
