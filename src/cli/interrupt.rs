//! Ctrl-C while files are read or judged: the run ends with its line of cause and, where one was asked for, a valid
//! document, as every other run does. Talking to a cluster has its own way to stop.

/// Ends the process on Ctrl-C from now on. Once the report is being written, it is written to its end first.
#[cfg(feature = "live")]
pub(super) fn ends_with_a_document() {
    use super::output;
    use super::stop::Stop;

    let (heeded, from_now) = std::sync::mpsc::channel::<()>();
    let wait = move || -> Option<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().ok()?;
        runtime.block_on(async {
            let mut pressed = std::pin::pin!(tokio::signal::ctrl_c());
            // The first look at it takes the signal over.
            if futures::poll!(pressed.as_mut()).is_pending() {
                drop(heeded);
                pressed.await.ok()?;
            }
            Some(())
        })?;
        let _held = output::alone();
        let words: Vec<_> = std::env::args_os().collect();
        let status = super::stopped(&words, &Stop::interrupted("interrupted", "run it again").into());
        #[expect(clippy::exit, reason = "the thread that works cannot be asked to stop")]
        std::process::exit(status.into())
    };
    // Without a thread or a runtime for it, the signal ends the process all the same.
    if std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).is_ok() {
        let _ = from_now.recv();
    }
}

/// Signals come with the runtime that talks to clusters; without it, Ctrl-C just ends the process.
#[cfg(not(feature = "live"))]
pub(super) fn ends_with_a_document() {}
