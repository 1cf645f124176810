//! Ctrl-C while files are read or checked: the run ends with a line of cause and, if one was requested, a valid
//! document. Connections to a cluster handle signals themselves.

/// Ends the process on Ctrl-C from now on. A report that is being written is completed first.
#[cfg(feature = "live")]
pub(super) fn ends_with_a_document() {
    use super::output;
    use super::stop::Stop;

    // A server handles signals itself.
    if output::is_captured() {
        return;
    }
    // Without room for its files the runtime would panic; the signal still ends the process.
    if super::live::has_files_left().is_err() {
        return;
    }
    let (heeded, from_now) = std::sync::mpsc::channel::<()>();
    let wait = move || -> Option<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().ok()?;
        runtime.block_on(async {
            let mut pressed = std::pin::pin!(tokio::signal::ctrl_c());
            // The first poll installs the signal handler.
            if futures::poll!(pressed.as_mut()).is_pending() {
                drop(heeded);
                pressed.await.ok()?;
            }
            Some(())
        })?;
        let _held = output::lock_output();
        let words: Vec<_> = std::env::args_os().collect();
        let status = super::stopped(&words, &Stop::interrupted("interrupted", "run it again").into());
        #[expect(clippy::exit, reason = "the working thread cannot be stopped")]
        std::process::exit(status.into())
    };
    // Without a thread or runtime, the signal still ends the process.
    if std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).is_ok() {
        let _ = from_now.recv();
    }
}

/// Signal handling comes with the runtime for clusters; without it, Ctrl-C ends the process.
#[cfg(not(feature = "live"))]
pub(super) fn ends_with_a_document() {}
