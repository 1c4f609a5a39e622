//! A process that is killed leaves no file under the final name, or a complete one.

use std::time::Duration;

use crate::lancet::Dir;

/// Numbers and text that take some time to convert.
fn with_csv(name: &str, rows: usize) -> Dir {
    let dir = Dir::new(name);
    let rows: String = (0..rows).map(|i| format!("{i},text {}\n", i * 7919 % 10_007)).collect();
    dir.write("t.csv", format!("id,text\n{rows}"));
    dir
}

#[test]
fn a_killed_writer_leaves_nothing_or_everything() {
    let dir = with_csv("crash_killed", 60_000);
    let complete = {
        dir.lancet("convert t.csv whole.lance").ok();
        std::fs::read(dir.path("whole.lance")).unwrap()
    };
    let mut killed = 0;
    for delay in [0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192] {
        let mut child = dir.command("-q convert t.csv new.lance").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        if let Ok(bytes) = std::fs::read(dir.path("new.lance")) {
            assert!(bytes == complete, "killed after {delay} ms");
            std::fs::remove_file(dir.path("new.lance")).unwrap();
        }
    }
    assert!(killed > 0, "no process was killed in time");
    // What a killed process left behind does not stop the next one.
    dir.lancet("convert t.csv new.lance").ok();
    assert!(std::fs::read(dir.path("new.lance")).unwrap() == complete);
}

#[test]
fn an_old_file_stays_until_the_new_one_is_complete() {
    let dir = with_csv("crash_old", 60_000);
    dir.write("old.csv", "id\n1\n");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64; // the same moments in every run
    for target in ["new.lance", "new.csv", "new.parquet", "new.arrow"] {
        dir.lancet(&format!("convert t.csv {target}")).ok();
        let new = std::fs::read(dir.path(target)).unwrap();
        dir.lancet(&format!("convert old.csv {target}")).ok();
        let old = std::fs::read(dir.path(target)).unwrap();
        for _ in 0..4 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            std::fs::write(dir.path(target), &old).unwrap();
            let mut child = dir.command(&format!("-q convert t.csv {target}")).spawn().unwrap();
            std::thread::sleep(Duration::from_micros((random >> 32) % 150_000));
            child.kill().unwrap();
            let finished = child.wait().unwrap().success();
            let bytes = std::fs::read(dir.path(target)).unwrap();
            assert!(bytes == new || bytes == old && !finished, "{target}");
            if target == "new.lance" {
                dir.lancet("verify new.lance").ok();
            }
        }
    }
}

#[test]
fn files_that_were_done_before_a_kill_are_whole() {
    let dir = with_csv("crash_many", 60_000);
    for name in ["a.csv", "b.csv", "c.csv"] {
        std::fs::copy(dir.path("t.csv"), dir.path(name)).unwrap();
    }
    dir.lancet("convert t.csv whole.lance").ok();
    let complete = std::fs::read(dir.path("whole.lance")).unwrap();
    for delay in [0, 8, 32, 64] {
        let mut child = dir.command("-q convert a.csv b.csv c.csv out/").spawn().unwrap();
        while !dir.path("out/a.lance").exists() {
            assert!(child.try_wait().unwrap().is_none_or(|status| status.success()));
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        for name in ["out/a.lance", "out/b.lance", "out/c.lance"] {
            if let Ok(bytes) = std::fs::read(dir.path(name)) {
                assert!(bytes == complete, "{name}, killed {delay} ms after the first file");
            }
        }
        std::fs::remove_dir_all(dir.path("out")).unwrap();
    }
}
