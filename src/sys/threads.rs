//! A few threads for work that is independent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// `f` of every item, in the order of the items, at most `jobs` at once.
pub fn map<T: Sync, R: Send>(jobs: usize, items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if jobs <= 1 || items.len() <= 1 {
        return items.iter().map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let work = || {
        while let Some((n, item)) = {
            let n = next.fetch_add(1, Ordering::Relaxed);
            items.get(n).map(|item| (n, item))
        } {
            let result = f(item);
            locked(&results).push((n, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(items.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(n, _)| *n);
    results.into_iter().map(|(_, result)| result).collect()
}

/// `f` of every item and of all that it adds to the list it is given, in no order, at most `jobs` at once.
pub fn spread<T: Send>(jobs: usize, items: Vec<T>, f: impl Fn(T, &mut Vec<T>) + Sync) {
    if items.is_empty() {
        return;
    }
    // What waits, and how many are at work: those may add to it.
    let state = Mutex::new((items, 0_usize));
    let changed = Condvar::new();
    let work = || {
        let mut more = Vec::new();
        let mut guard = locked(&state);
        loop {
            if let Some(item) = guard.0.pop() {
                guard.1 += 1;
                drop(guard);
                f(item, &mut more);
                guard = locked(&state);
                guard.1 -= 1;
                guard.0.append(&mut more);
                changed.notify_all();
            } else if guard.1 == 0 {
                return;
            } else {
                guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(work);
        }
        work();
    });
}

/// How many to use on this machine.
pub fn available() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// What several threads share; one that panicked leaves nothing half done in it.
pub fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
