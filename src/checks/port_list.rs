//! Lists of ports and port ranges, as annotations contain them.

use std::cmp::Ordering;

/// The list without one port; `None` if no other port is left. Entries that are not ports stay as written.
pub(super) fn without(list: &str, port: u16) -> Option<String> {
    let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let others: Vec<String> = entries
        .flat_map(|entry| match bounds(entry) {
            Some((first, last)) if (first..=last).contains(&port) => {
                let below = (port > first).then(|| range(first, port - 1)).flatten();
                let above = (port < last).then(|| range(port + 1, last)).flatten();
                below.into_iter().chain(above).collect()
            }
            _ => vec![entry.to_owned()],
        })
        .collect();
    (!others.is_empty()).then(|| others.join(","))
}

/// First and last port of an entry.
fn bounds(entry: &str) -> Option<(u16, u16)> {
    match entry.split_once('-') {
        Some((first, last)) => Some((first.trim().parse().ok()?, last.trim().parse().ok()?)),
        None => entry.parse().ok().map(|port| (port, port)),
    }
}

fn range(first: u16, last: u16) -> Option<String> {
    match first.cmp(&last) {
        Ordering::Less => Some(format!("{first}-{last}")),
        Ordering::Equal => Some(first.to_string()),
        Ordering::Greater => None,
    }
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
