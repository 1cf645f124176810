//! Signals that end a run: Ctrl-C, Ctrl-\, SIGTERM and SIGHUP. After `listen` they no longer end the process, so the
//! caller must wait for them until the end.

use std::io;

/// Signals that end a run.
pub(super) struct Signals {
    #[cfg(unix)]
    streams: [tokio::signal::unix::Signal; 4],
}

impl Signals {
    /// Starts to listen. Must be called inside a runtime.
    ///
    /// # Errors
    /// The system does not allow it.
    pub(super) fn listen() -> io::Result<Signals> {
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
            })
        }
        #[cfg(not(unix))]
        Ok(Signals {})
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
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
