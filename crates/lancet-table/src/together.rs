//! Reads and writes that do not need each other, under way at the same time.
//!
//! In a store each costs the latency of a request, so that a hundred in a row are seconds. On disk futures are ready when
//! they are first polled: there they are done one after the other, as they were begun.
//!
//! After an error no more are begun, and those under way end: nothing is written any more when it is told.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use crate::error::{Error, Result};

/// Requests that are under way at the same time, at most.
pub(crate) const CONCURRENT: usize = 16;

/// A request that may move to another thread, whatever it is.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What all of some futures come to, in their order, or the first error.
pub(crate) async fn all<T, F>(futures: impl IntoIterator<Item = F>) -> Result<Vec<T>>
where
    F: Future<Output = Result<T>>,
{
    let mut waiting = futures.into_iter();
    let Some(first) = waiting.next() else { return Ok(Vec::new()) };
    let Some(second) = waiting.next() else { return Ok(vec![first.await?]) };
    let mut waiting = [first, second].into_iter().chain(waiting);
    let mut all = UnderWay { futures: Vec::new(), found: Vec::new(), failed: None };
    poll_fn(|context| all.poll(&mut waiting, context)).await;
    match all.failed {
        Some(error) => Err(error),
        None => all.found.into_iter().map(|found| found.ok_or_else(no_result)).collect(),
    }
}

/// What two futures come to.
pub(crate) async fn both<A, B>(
    first: impl Future<Output = Result<A>>,
    second: impl Future<Output = Result<B>>,
) -> Result<(A, B)> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut a, mut b) = (None, None);
    poll_fn(|context| -> Poll<Result<()>> {
        if a.is_none()
            && let Poll::Ready(found) = first.as_mut().poll(context)
        {
            a = Some(found?);
        }
        if b.is_none()
            && let Poll::Ready(found) = second.as_mut().poll(context)
        {
            b = Some(found?);
        }
        if a.is_some() && b.is_some() { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await?;
    a.zip(b).ok_or_else(no_result)
}

fn no_result() -> Error {
    Error::invalid("a read ended without a result")
}

struct UnderWay<T, F> {
    /// Each with its place among the results.
    futures: Vec<(usize, Pin<Box<F>>)>,
    found: Vec<Option<T>>,
    /// The first error.
    failed: Option<Error>,
}

/// Only the futures are pinned, each in its box.
impl<T, F> Unpin for UnderWay<T, F> {}

impl<T, F: Future<Output = Result<T>>> UnderWay<T, F> {
    fn poll(
        &mut self,
        waiting: &mut impl Iterator<Item = F>,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        for (place, future) in std::mem::take(&mut self.futures) {
            self.poll_one(place, future, context);
        }
        while self.failed.is_none() && self.futures.len() < CONCURRENT {
            let Some(future) = waiting.next() else { break };
            let place = self.found.len();
            self.found.push(None);
            self.poll_one(place, Box::pin(future), context);
        }
        if self.futures.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn poll_one(&mut self, place: usize, mut future: Pin<Box<F>>, context: &mut Context<'_>) {
        match future.as_mut().poll(context) {
            Poll::Pending => self.futures.push((place, future)),
            Poll::Ready(Err(error)) => self.failed = self.failed.take().or(Some(error)),
            Poll::Ready(Ok(found)) => {
                if let Some(place) = self.found.get_mut(place) {
                    *place = Some(found);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::task::Waker;

    use super::*;
    use crate::storage::ready;

    /// Ready when it was polled often enough.
    async fn after(polls: usize, begun: Rc<Cell<usize>>, value: usize) -> Result<usize> {
        begun.set(begun.get() + 1);
        let mut left = polls;
        poll_fn(|_| match left.checked_sub(1) {
            None => Poll::Ready(()),
            Some(fewer) => {
                left = fewer;
                Poll::Pending
            }
        })
        .await;
        if value == 999 { Err(Error::invalid("no")) } else { Ok(value) }
    }

    fn rounds(count: usize, polls: impl Fn(usize) -> usize) -> (Vec<usize>, usize, usize) {
        let begun = Rc::new(Cell::new(0));
        let futures = (0..count).map(|i| after(polls(i), begun.clone(), i)).collect::<Vec<_>>();
        let mut future = Box::pin(all(futures));
        let mut rounds = 0;
        let most = loop {
            match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(found) => break (found.unwrap(), begun.get()),
                Poll::Pending => rounds += 1,
            }
        };
        (most.0, most.1, rounds)
    }

    #[test]
    fn so_many_are_under_way_and_their_order_stays() {
        for count in [0, 1, 2, 3, 16, 17, 100] {
            let (found, begun, waited) = rounds(count, |_| 1);
            assert_eq!(found, (0..count).collect::<Vec<_>>());
            assert_eq!((begun, waited), (count, count.div_ceil(CONCURRENT)));
            let (found, _, _) = rounds(count, |i| i * 7 % 5);
            assert_eq!(found, (0..count).collect::<Vec<_>>());
            assert_eq!(rounds(count, |_| 0).2, 0);
        }
    }

    #[test]
    fn after_an_error_no_more_are_begun() {
        let begun = Rc::new(Cell::new(0));
        let futures = (998..2_000).map(|i| after(0, begun.clone(), i));
        assert!(ready(all(futures)).is_err());
        assert_eq!(begun.get(), 2);
    }

    #[test]
    fn after_an_error_those_under_way_end() {
        let (begun, ended) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let futures = (990..1_020).map(|i| {
            let (work, ended) = (after(usize::from(i != 999) * 3, begun.clone(), i), ended.clone());
            async move {
                let found = work.await;
                ended.set(ended.get() + 1);
                found
            }
        });
        let mut work = Box::pin(all(futures));
        let mut poll = || work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        for _ in 0..3 {
            assert!(poll().is_pending());
        }
        assert!(matches!(poll(), Poll::Ready(Err(_))));
        // The tenth failed at once; nine were before it.
        assert_eq!((begun.get(), ended.get()), (10, 10));
    }
}
