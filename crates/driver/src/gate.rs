//! The gate that all threads of a run pass at the same moment.

use std::sync::{Condvar, Mutex};

use blocklab_units::Nanos;

/// Holds everybody until all are ready.
#[derive(Default)]
pub(super) struct Gate {
    order: Mutex<Option<Order>>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    Begin(Nanos),
    Abort,
}

impl Gate {
    pub(super) fn give(&self, order: Order) {
        *self.order.lock().expect("no panic under this lock") = Some(order);
        self.changed.notify_all();
    }

    pub(super) fn wait(&self) -> Order {
        let mut order = self.order.lock().expect("no panic under this lock");
        loop {
            match *order {
                Some(order) => return order,
                None => order = self.changed.wait(order).expect("no panic under this lock"),
            }
        }
    }
}
