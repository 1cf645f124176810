//! Random lists in random pieces.

use proptest::prelude::*;

use super::*;

#[derive(Default)]
struct Kept {
    head: Option<Head>,
    items: Vec<Vec<u8>>,
    refuses: bool,
}

impl ElementSink for Kept {
    fn head(&mut self, head: Head) {
        self.head = Some(head);
    }

    fn begun(&mut self, _: &str) -> Option<usize> {
        None
    }

    fn item(&mut self, _: &[u8]) {}

    fn message(&mut self, bytes: &[u8]) -> bool {
        self.items.push(bytes.to_vec());
        !self.refuses
    }
}

fn bytes(field: u8, value: &[u8]) -> Vec<u8> {
    let mut out = vec![field << 3 | 2];
    let mut length = value.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(value);
    out
}

/// A list as an API server writes it.
fn list(kind: &str, token: &str, items: &[Vec<u8>]) -> Vec<u8> {
    let kind = [bytes(1, b"v1"), bytes(2, kind.as_bytes())].concat();
    let head = [bytes(1, b""), bytes(2, b"12"), bytes(3, token.as_bytes()), vec![4 << 3, 200, 1]].concat();
    let items = items.iter().flat_map(|item| bytes(2, item));
    let list: Vec<u8> = bytes(1, &head).into_iter().chain(items).collect();
    [b"k8s\0".to_vec(), bytes(1, &kind), bytes(2, &list), bytes(3, b""), bytes(4, b"")].concat()
}

fn split(body: &[u8], piece: usize) -> (Kept, Result<(), NotAList>) {
    let mut kept = Kept::default();
    let outcome = push(body, piece, &mut kept);
    (kept, outcome)
}

fn push(body: &[u8], piece: usize, kept: &mut Kept) -> Result<(), NotAList> {
    let mut splitter = Messages::new("Pod");
    for bytes in body.chunks(piece) {
        splitter.push(bytes, kept)?;
    }
    splitter.finish()
}

proptest! {
    #[test]
    fn any_list_in_any_pieces_splits_into_its_items(
        items in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..8),
        token in "[a-zA-Z0-9=]{0,8}",
        piece in 1_usize..64,
    ) {
        let (kept, outcome) = split(&list("PodList", &token, &items), piece);
        prop_assert_eq!(outcome, Ok(()));
        prop_assert_eq!(kept.items, items);
        prop_assert_eq!(kept.head.unwrap().next, Some(token).filter(|t| !t.is_empty()));
    }

    #[test]
    fn a_list_cut_anywhere_is_truncated_and_keeps_the_whole_items(
        cut in any::<prop::sample::Index>(),
        piece in 1_usize..64,
    ) {
        let items: Vec<Vec<u8>> = (1..5).map(|n| vec![n; usize::from(n) * 50]).collect();
        let body = list("PodList", "x", &items);
        // The last two fields of the envelope are empty: a body without them is complete.
        let cut = cut.index(body.len() - 4);
        let (kept, outcome) = split(&body[..cut], piece);
        prop_assert_eq!(outcome, Err(NotAList::Truncated(cut as u64)));
        let whole = items.iter().filter(|item| {
            let at = body.windows(item.len()).position(|w| w == item.as_slice()).unwrap();
            at + item.len() <= cut
        });
        prop_assert_eq!(kept.items.len(), whole.count());
    }

    #[test]
    fn arbitrary_bytes_end_the_same_in_any_pieces(noise in prop::collection::vec(any::<u8>(), 0..200), piece in 1_usize..16) {
        for body in [noise.clone(), [b"k8s\0".as_slice(), &noise].concat()] {
            let (pieces, whole) = (split(&body, piece), split(&body, 300));
            prop_assert_eq!((pieces.0.items, pieces.1.is_ok()), (whole.0.items, whole.1.is_ok()));
        }
    }
}

#[test]
fn non_lists_are_distinguished() {
    let why = |body: &[u8]| split(body, 7).1.unwrap_err();
    assert_eq!(why(b""), NotAList::Truncated(0));
    assert_eq!(why(b"{\"kind\":\"PodList\"}"), NotAList::BrokenMessage(0));
    assert_eq!(why(b"k8s\0"), NotAList::Truncated(4));
    assert_eq!(why(&list("ServiceList", "", &[])), NotAList::OtherList("Pod"));
    assert_eq!(why(&list("Pod", "", &[])), NotAList::OtherList("Pod"));
    // The list before its kind.
    assert_eq!(why(&[b"k8s\0".to_vec(), bytes(2, b"")].concat()), NotAList::OtherList("Pod"));
    // An item that is longer than its list.
    let kind = bytes(1, &bytes(2, b"PodList"));
    let long = [b"k8s\0".to_vec(), kind.clone(), vec![2 << 3 | 2, 3, 2 << 3 | 2, 100, 0]].concat();
    assert_eq!(why(&long), NotAList::BrokenMessage(4 + kind.len() as u64 + 2));
    // An item whose length does not end within the list.
    let cut = [b"k8s\0".to_vec(), kind, vec![2 << 3 | 2, 2, 2 << 3 | 2, 0x80], bytes(3, b"")].concat();
    assert!(matches!(why(&cut), NotAList::BrokenMessage(_)));
}

#[test]
fn rejected_item_ends_the_list() {
    let mut kept = Kept { refuses: true, ..Kept::default() };
    let outcome = push(&list("PodList", "", &[vec![1], vec![2]]), 7, &mut kept);
    assert_eq!((outcome, kept.items.len()), (Err(NotAList::OtherList("Pod")), 1));
}

#[test]
fn endless_value_is_rejected_early() {
    let huge =
        [b"k8s\0".as_slice(), &bytes(1, &bytes(2, b"PodList")), &[2 << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat();
    let item = [huge.as_slice(), &[2 << 3 | 2, 0xff, 0xff, 0xff, 0x7f]].concat();
    assert_eq!(split(&item, 100).1, Err(NotAList::TooLarge));
}

#[test]
fn the_buffer_stays_small_however_long_the_list() {
    let items = vec![vec![b'x'; 10_000]; 200];
    let mut kept = Kept::default();
    let mut splitter = Messages::new("Pod");
    for bytes in list("PodList", "", &items).chunks(8_192) {
        splitter.push(bytes, &mut kept).unwrap();
        assert!(splitter.buffer.len() < 20_000, "{}", splitter.buffer.len());
    }
    splitter.finish().unwrap();
    assert_eq!(kept.items, items);
}
