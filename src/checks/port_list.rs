//! Lists of ports and port ranges, as annotations contain them.

/// Whether a list contains a port.
pub(super) fn holds(list: &str, port: u16) -> bool {
    list.split(',').filter_map(|entry| bounds(entry.trim())).any(|(first, last)| (first..=last).contains(&port))
}

/// The list without one port; `None` if no other port is left. Entries that are not ports stay as written.
pub(super) fn without(list: &str, port: u16) -> Option<String> {
    let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let others: Vec<String> = entries
        .flat_map(|entry| match bounds(entry) {
            Some((first, last)) if (first..=last).contains(&port) => {
                let below = (port > first).then(|| written((first, port - 1)));
                let above = (port < last).then(|| written((port + 1, last)));
                below.into_iter().chain(above).collect()
            }
            _ => vec![entry.to_owned()],
        })
        .collect();
    (!others.is_empty()).then(|| others.join(","))
}

/// First and last port of an entry.
pub(super) fn bounds(entry: &str) -> Option<(u16, u16)> {
    match entry.split_once('-') {
        Some((first, last)) => Some((first.trim().parse().ok()?, last.trim().parse().ok()?)),
        None => entry.parse().ok().map(|port| (port, port)),
    }
}

/// The entry of a port or of a range.
pub(super) fn written((first, last): (u16, u16)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn port_is_removed_from_lists_and_ranges() {
        assert_eq!(without("25, 8080,mysql", 8080).as_deref(), Some("25,mysql"));
        assert_eq!(without("8000-8100", 8080).as_deref(), Some("8000-8079,8081-8100"));
        assert_eq!(without("8080-8081,65535", 65535).as_deref(), Some("8080-8081"));
        assert_eq!(without("8080-8081", 8080).as_deref(), Some("8081"));
        assert_eq!(without("8080", 8080), None);
    }
}
