use super::*;

fn due(held: &[u64], limit: u64) -> Vec<bool> {
    let column =
        |held: &u64| Waiting { held: *held, oldest: (*held > 0).then_some(0), is_full: false };
    due_columns(&held.iter().map(column).collect::<Vec<_>>(), 0, limit)
}

#[test]
fn columns_with_the_most_rows_give_up_their_pages() {
    assert_eq!(due(&[30, 40, 30], 100), [false; 3]);
    assert_eq!(due(&[30, 41, 30], 100), [true, true, false]);
    assert_eq!(due(&[1, 200, 1], 100), [false, true, false]);
    assert_eq!(due(&[10; 11], 100)[..6], [true; 6]);
    assert_eq!(due(&[10; 11], 100)[6..], [false; 5]);
    assert_eq!(due(&[0, 1], 0), [false, true]);
}

#[test]
fn full_columns_and_old_rows_are_due() {
    let column = |oldest, is_full| Waiting { held: 1, oldest, is_full };
    let columns = [column(Some(0), false), column(Some(50), false), column(None, false)];
    assert_eq!(due_columns(&columns, 100, 100), [false; 3]);
    assert_eq!(due_columns(&columns, 101, 100), [true, false, false]);
    assert_eq!(due_columns(&[column(None, false), column(Some(0), true)], 0, 9), [false, true]);
}
