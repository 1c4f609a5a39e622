//! Work that helpers do ahead of a caller, who takes the results in order.
//!
//! The caller works itself where the next result is not there, and waits only for one that a helper has begun.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::{Job, ask, lock, withdraw};

/// Items that are worked on, and results that nobody has taken yet, in the order of the items.
pub struct InOrder<T, R>
where
    T: Send + 'static,
    R: Send + 'static,
{
    queue: Arc<Queue<T, R>>,
    begun: VecDeque<(T, Receiver<thread::Result<R>>)>,
    /// The process whose helpers work on them.
    process: u32,
}

type Work<T, R> = Arc<dyn Fn(T) -> R + Send + Sync>;

impl<T, R> InOrder<T, R>
where
    T: Clone + Send + 'static,
    R: Send + 'static,
{
    /// Work with at most so many helpers beside the caller.
    pub fn new(max_helpers: usize, work: impl Fn(T) -> R + Send + Sync + 'static) -> Self {
        let (queue, process) = (Queue::new(Arc::new(work), max_helpers), std::process::id());
        Self { queue, begun: VecDeque::new(), process }
    }

    /// Items whose results nobody has taken.
    pub fn len(&self) -> usize {
        self.begun.len()
    }

    /// Whether there is nothing to take.
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// Has another item worked on.
    pub fn push(&mut self, item: T) {
        self.begin_again_in_a_child();
        let (sender, receiver) = sync_channel(1);
        self.queue.push(item.clone(), sender);
        self.begun.push_back((item, receiver));
    }

    /// The result of the next item; none if there is no item left. A panic of the work goes on here.
    pub fn take(&mut self) -> Option<R> {
        self.begin_again_in_a_child();
        let (item, receiver) = self.begun.pop_front()?;
        let done = loop {
            match receiver.try_recv() {
                Ok(done) => break Some(done),
                // A thread that sleeps may find the others on its core when it wakes: it works, too.
                Err(_) if self.queue.work() => {}
                // A helper has begun it.
                Err(_) => break receiver.recv().ok(),
            }
        };
        match done {
            Some(Ok(result)) => Some(result),
            Some(Err(panic)) => {
                self.clear();
                resume_unwind(panic)
            }
            // Whoever had begun it is gone.
            None => Some((self.queue.work)(item)),
        }
    }

    /// Nobody works on what nobody waits for.
    pub fn clear(&mut self) {
        self.begin_again_in_a_child();
        self.begun.clear();
        self.queue.clear();
    }

    /// In a child process nobody works on what was begun in the parent: it is begun again. Nothing of the old queue is
    /// touched, in which a helper may have held a lock at the fork.
    fn begin_again_in_a_child(&mut self) {
        let process = std::process::id();
        if self.process == process {
            return;
        }
        self.process = process;
        let queue = Queue::new(self.queue.work.clone(), self.queue.max_helpers);
        std::mem::forget(std::mem::replace(&mut self.queue, queue));
        for (item, receiver) in std::mem::take(&mut self.begun) {
            std::mem::forget(receiver);
            self.push(item);
        }
    }
}

impl<T: Send + 'static, R: Send + 'static> Drop for InOrder<T, R> {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.queue.clear();
        } else {
            std::mem::forget(std::mem::take(&mut self.begun));
        }
    }
}

/// Items to be worked on, by any thread.
struct Queue<T, R> {
    work: Work<T, R>,
    /// How many helpers may work on it at the same time.
    max_helpers: usize,
    state: Mutex<State<T, R>>,
}

struct State<T, R> {
    waiting: VecDeque<(T, SyncSender<thread::Result<R>>)>,
    /// Helpers that were asked and have not gone.
    num_helpers: usize,
}

impl<T: Send + 'static, R: Send + 'static> Queue<T, R> {
    fn new(work: Work<T, R>, max_helpers: usize) -> Arc<Self> {
        let state = Mutex::new(State { waiting: VecDeque::new(), num_helpers: 0 });
        Arc::new(Self { work, max_helpers, state })
    }

    fn push(self: &Arc<Self>, item: T, sender: SyncSender<thread::Result<R>>) {
        let mut state = lock(&self.state);
        state.waiting.push_back((item, sender));
        if state.num_helpers >= self.max_helpers {
            return;
        }
        state.num_helpers = state.num_helpers.saturating_add(1);
        drop(state);
        let job: Arc<dyn Job> = self.clone();
        if ask(&job, 1) == 0 {
            self.leave(&mut lock(&self.state));
        }
    }

    fn clear(self: &Arc<Self>) {
        let job: Arc<dyn Job> = self.clone();
        withdraw(&job);
        let waiting = std::mem::take(&mut lock(&self.state).waiting);
        drop(waiting);
    }

    /// Works on the next item, if one waits.
    fn work(&self) -> bool {
        let next = lock(&self.state).waiting.pop_front();
        next.map(|(item, sender)| self.work_on(item, &sender)).is_some()
    }

    fn work_on(&self, item: T, sender: &SyncSender<thread::Result<R>>) {
        let done = catch_unwind(AssertUnwindSafe(|| (self.work)(item)));
        // Nobody listens any more when the caller is gone.
        let _ = sender.send(done);
    }

    fn leave(&self, state: &mut State<T, R>) {
        state.num_helpers = state.num_helpers.saturating_sub(1);
    }
}

impl<T: Send + 'static, R: Send + 'static> Job for Queue<T, R> {
    fn help(&self) {
        loop {
            let mut state = lock(&self.state);
            let Some((item, sender)) = state.waiting.pop_front() else {
                return self.leave(&mut state);
            };
            drop(state);
            self.work_on(item, &sender);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn results_come_in_order_and_panics_go_on_in_the_caller() {
        for helpers in [0, 1, 3] {
            let mut work = InOrder::new(helpers, |n: usize| {
                assert!(n != 40, "forty");
                n * 2
            });
            (0..30).for_each(|n| work.push(n));
            let found: Vec<usize> = std::iter::from_fn(|| work.take()).collect();
            assert_eq!(found, (0..30).map(|n| n * 2).collect::<Vec<_>>());
            [39, 40, 41].into_iter().for_each(|n| work.push(n));
            assert_eq!(work.take(), Some(78));
            let panic = catch_unwind(AssertUnwindSafe(|| work.take()));
            assert!(panic.is_err() && work.is_empty());
            work.push(7);
            assert_eq!((work.len(), work.take(), work.take()), (1, Some(14), None));
        }
    }

    #[cfg(feature = "threads")]
    #[test]
    fn helpers_work_while_nobody_asks() {
        let done = Arc::new(AtomicUsize::new(0));
        let counted = done.clone();
        let mut work = InOrder::new(1, move |n: usize| {
            counted.fetch_add(1, Ordering::SeqCst);
            n
        });
        (0..5).for_each(|n| work.push(n));
        let start = Instant::now();
        while done.load(Ordering::SeqCst) < 5 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!((done.load(Ordering::SeqCst), work.take()), (5, Some(0)));
    }
}
