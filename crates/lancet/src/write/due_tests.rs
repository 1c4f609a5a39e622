use super::*;

fn rounds(pages: &[u64], limit: u64, threads: usize) -> Vec<(Vec<u64>, usize)> {
    let page = |bytes: &u64| DuePage { column: 0, bytes: *bytes, rows: DueRows::Structs(0) };
    let mut due: VecDeque<DuePage> = pages.iter().map(page).collect();
    let mut rounds = Vec::new();
    while !due.is_empty() {
        let (round, threads) = next_round(&mut due, limit, threads);
        rounds.push((round.iter().map(|page| page.bytes).collect(), threads));
    }
    rounds
}

#[test]
fn pages_are_encoded_together_as_far_as_the_limit_goes() {
    // Two threads take 64 of 128, which leaves room for the bytes of eight pages.
    assert_eq!(rounds(&[8; 20], 128, 2), [(vec![8; 8], 2), (vec![8; 8], 2), (vec![8; 4], 2)]);
    assert_eq!(rounds(&[1; 5], 128, 16), [(vec![1; 5], 16)]);
    // Pages that are too large for all threads have fewer.
    assert_eq!(rounds(&[8; 3], 64, 4), [(vec![8; 3], 1)]);
    assert_eq!(rounds(&[1, 1, 100, 1], 64, 4), [(vec![1, 1], 4), (vec![100], 1), (vec![1], 4)]);
    assert_eq!(rounds(&[0, 0], 0, 2), [(vec![0, 0], 2)]);
    assert_eq!(rounds(&[u64::MAX; 2], 1 << 40, 2), [(vec![u64::MAX], 1), (vec![u64::MAX], 1)]);
}
