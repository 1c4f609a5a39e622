use std::sync::atomic::AtomicUsize;
use std::thread;

use super::*;
use crate::error::Error;

const THREADS: usize = 4;

#[test]
fn results_come_in_order_and_the_first_error_counts() {
    for n in [0, 1, 2, 100] {
        let found = in_parallel(THREADS, (0..n).collect(), |i: usize| Ok(i * 2)).unwrap();
        assert_eq!(found, (0..n).map(|i| i * 2).collect::<Vec<_>>());
    }
    let broken = |i: usize| match i {
        7 | 30 => Err(Error::invalid(format!("item {i}"))),
        _ => Ok(()),
    };
    let error = in_parallel(THREADS, (0..100).collect(), broken).unwrap_err();
    assert!(error.to_string().contains("item 7"), "{error}");
}

#[test]
fn after_an_error_nothing_is_begun() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let fail = move |_: usize| -> Result<()> {
        counted.fetch_add(1, Ordering::Relaxed);
        Err(Error::invalid("no"))
    };
    in_parallel(THREADS, (0..10_000).collect(), fail).unwrap_err();
    assert!(count.load(Ordering::Relaxed) <= THREADS);
}

#[test]
fn items_stay_whatever_happens() {
    for threads in [1, THREADS] {
        let mut items: Vec<usize> = (0..100).collect();
        let add = |item: &mut usize| {
            *item += 1;
            Ok(*item)
        };
        let sums = in_parallel_mut(threads, &mut items, add).unwrap();
        assert_eq!((sums.first(), sums.len(), &sums), (Some(&1), 100, &items));
        let fail = |item: &mut usize| match *item {
            50 => Err(Error::invalid("fifty")),
            item => Ok(item),
        };
        in_parallel_mut(threads, &mut items, fail).unwrap_err();
        assert_eq!(items, sums);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _ = in_parallel_mut(threads, &mut items, |item| {
                assert_ne!(*item, 50);
                Ok(())
            });
        }));
        assert!(panicked.is_err());
        assert_eq!(items, sums);
    }
}

#[test]
fn a_panic_goes_on_in_the_caller() {
    for threads in [1, THREADS] {
        let work = |i: usize| {
            assert_ne!(i, 20, "twenty");
            Ok(())
        };
        let call = || in_parallel(threads, (0..100).collect(), work);
        let panic = catch_unwind(call).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains("twenty"));
    }
    // The helpers are still there.
    results_come_in_order_and_the_first_error_counts();
}

#[test]
fn one_thread_is_the_calling_one() {
    let here = thread::current().id();
    let ids = in_parallel(1, vec![(); 100], |()| Ok(thread::current().id())).unwrap();
    assert!(ids.iter().all(|id| *id == here));
}

/// Work that waits for other work of its kind, as deep as there are helpers and deeper.
#[test]
fn calls_from_helpers_end() {
    fn nested(depth: usize) -> Result<usize> {
        if depth == 0 {
            return Ok(1);
        }
        let parts = in_parallel(THREADS, vec![depth - 1; 3], nested)?;
        Ok(parts.iter().sum())
    }
    assert_eq!(nested(6).unwrap(), 729);
}

#[test]
#[cfg(feature = "threads")]
fn helpers_that_do_not_come_are_not_waited_for() {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;
    // Every helper there may be waits for this channel.
    let most = num_threads() + 2;
    let (sender, receiver) = channel::<()>();
    let receiver = Arc::new(Mutex::new(receiver));
    let others = thread::spawn(move || {
        in_parallel(most + 1, vec![receiver; most + 1], |receiver| {
            assert!(lock(&receiver).recv().is_err());
            Ok(())
        })
    });
    thread::sleep(std::time::Duration::from_millis(50));
    results_come_in_order_and_the_first_error_counts();
    drop(sender);
    others.join().unwrap().unwrap();
}

#[test]
fn what_the_work_holds_is_let_go() {
    let held = Arc::new(());
    for _ in 0..100 {
        let (in_work, items) = (held.clone(), vec![held.clone(); 10]);
        in_parallel(THREADS, items, move |item| Ok((item, in_work.clone()))).unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
