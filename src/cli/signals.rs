//! Signals that end a run: Ctrl-C, Ctrl-\, SIGTERM and SIGHUP. After `listen` they no longer end the process, so the
//! caller must wait for them until the end. A server can end the run of one thread in the same way.

use std::cell::RefCell;
use std::io;

use tokio::sync::watch;

thread_local! {
    static CANCELLED: RefCell<Option<watch::Receiver<bool>>> = const { RefCell::new(None) };
}

/// From now on, `cancelled` ends runs of this thread when it becomes true.
#[cfg(feature = "mcp")]
pub(super) fn ends_when(cancelled: watch::Receiver<bool>) {
    CANCELLED.with(|held| held.replace(Some(cancelled)));
}

/// Signals that end a run.
pub(super) struct Signals {
    #[cfg(unix)]
    streams: [tokio::signal::unix::Signal; 4],
    cancelled: Option<watch::Receiver<bool>>,
}

impl Signals {
    /// Starts to listen. Must be called inside a runtime.
    ///
    /// # Errors
    /// The system does not allow it.
    pub(super) fn listen() -> io::Result<Signals> {
        let cancelled = CANCELLED.with(|held| held.borrow().clone());
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Signals {
                streams: [
                    signal(SignalKind::interrupt())?,
                    signal(SignalKind::quit())?,
                    signal(SignalKind::terminate())?,
                    signal(SignalKind::hangup())?,
                ],
                cancelled,
            })
        }
        #[cfg(not(unix))]
        Ok(Signals { cancelled })
    }

    /// Waits for the next one, or until the server cancels the run.
    pub(super) async fn next(&mut self) {
        let mut cancelled = self.cancelled.clone();
        let cancelled = async {
            let ended = match &mut cancelled {
                Some(cancelled) => cancelled.wait_for(|ended| *ended).await.is_ok(),
                None => false,
            };
            // A server that is gone no longer cancels.
            if !ended {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = self.signal() => {}
            () = cancelled => {}
        }
    }

    async fn signal(&mut self) {
        #[cfg(unix)]
        {
            let [interrupt, quit, terminate, hangup] = &mut self.streams;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = quit.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
        }
        #[cfg(not(unix))]
        // A machine without signals has no Ctrl-C; wait forever.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
