//! Requests that wait together, for those who need no stream of results.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::Result;

/// How many requests are under way at a time.
const AT_ONCE: usize = 16;

/// A request that others may wait together with. Its kind is of no interest; that it may move to another thread is.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Has all of them done, some at a time, until one fails. Their results are in the order of the futures.
pub(crate) async fn all<T>(futures: Vec<Boxed<'_, T>>) -> Result<Vec<T>> {
    let mut results = Vec::with_capacity(futures.len());
    let mut left = futures.into_iter();
    loop {
        let some: Vec<_> = left.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return Ok(results);
        }
        for result in (Together { ended: some.iter().map(|_| None).collect(), some }).await {
            results.push(result?);
        }
    }
}

/// Futures that go on at the same time; all of them end.
struct Together<'a, T> {
    some: Vec<Boxed<'a, T>>,
    ended: Vec<Option<Result<T>>>,
}

/// Nothing of it is pinned but what is in boxes.
impl<T> Unpin for Together<'_, T> {}

impl<T> Future for Together<'_, T> {
    type Output = Vec<Result<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { some, ended } = &mut *self;
        for (future, ended) in some.iter_mut().zip(ended.iter_mut()) {
            if ended.is_none()
                && let Poll::Ready(result) = future.as_mut().poll(context)
            {
                *ended = Some(result);
            }
        }
        match ended.iter().all(Option::is_some) {
            true => Poll::Ready(ended.drain(..).flatten().collect()),
            false => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Waker;

    use super::*;
    use crate::error::Error;
    use crate::storage::ready;

    fn boxed<'a, F: Future<Output = Result<usize>> + Send + 'a>(
        number: usize,
        make: impl Fn(usize) -> F,
    ) -> Vec<Boxed<'a, usize>> {
        (0..number).map(|number| Box::pin(make(number)) as Boxed<'a, usize>).collect()
    }

    /// Ready when all of its group were asked.
    async fn waits(asked: &AtomicUsize, group: usize, number: usize) -> Result<usize> {
        asked.fetch_add(1, Ordering::Relaxed);
        poll_fn(|_| match asked.load(Ordering::Relaxed) >= group {
            true => Poll::Ready(Ok(number)),
            false => Poll::Pending,
        })
        .await
    }

    #[test]
    fn some_wait_together_and_results_keep_their_order() {
        let asked = AtomicUsize::new(0);
        let mut work = Box::pin(all(boxed(AT_ONCE, |number| waits(&asked, AT_ONCE, number))));
        let mut context = Context::from_waker(Waker::noop());
        assert!(work.as_mut().poll(&mut context).is_pending());
        let Poll::Ready(done) = work.as_mut().poll(&mut context) else { panic!("it waits") };
        assert_eq!(done.unwrap(), (0..AT_ONCE).collect::<Vec<_>>());
        let many = all(boxed(3 * AT_ONCE + 1, |number| async move { Ok(number) }));
        assert_eq!(ready(many).unwrap(), (0..3 * AT_ONCE + 1).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_error_ends_it() {
        let asked = AtomicUsize::new(0);
        let asked = &asked;
        let one = |number: usize| async move {
            asked.fetch_add(1, Ordering::Relaxed);
            if number == 3 { Err(Error::invalid("three")) } else { Ok(number) }
        };
        assert_eq!(ready(all(boxed(100, one))).unwrap_err().to_string(), "three");
        assert_eq!(asked.load(Ordering::Relaxed), AT_ONCE);
    }
}
