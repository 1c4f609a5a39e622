//! Time that passes only where somebody waits: what a schedule takes, to the microsecond and in no time.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub struct Clock(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    now: Duration,
    sleepers: BTreeMap<(Duration, usize), Waker>,
    count: usize,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Clock {
    /// Sleeps for a time.
    pub async fn sleep(&self, time: Duration) {
        let (end, number) = {
            let mut state = self.0.lock().unwrap();
            state.count += 1;
            (state.now + time, state.count)
        };
        std::future::poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            if state.now >= end {
                return Poll::Ready(());
            }
            state.sleepers.insert((end, number), context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// What a future comes to, and how long it has slept.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> (T, Duration) {
        let start = self.0.lock().unwrap().now;
        let (mut future, woken) = (pin!(future), Arc::new(Woken::default()));
        loop {
            let waker = Waker::from(woken.clone());
            if let Poll::Ready(found) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return (found, self.0.lock().unwrap().now - start);
            }
            if woken.0.swap(false, Ordering::Relaxed) {
                // It has more to do before it waits.
                continue;
            }
            let next = self.0.lock().unwrap().sleepers.pop_first();
            let ((end, _), waker) = next.expect("somebody waits for nothing");
            self.0.lock().unwrap().now = end;
            waker.wake();
        }
    }
}
