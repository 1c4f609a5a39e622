//! Files behind HTTP: what is read, what is asked of the server, what is written, what fails.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::lancet::{Dir, Ran};

const TABLE: &str = "id,name\n1,ada\n2,bob\n3,cy\n";

/// A server of the files in a folder. Nobody may see or write what is called `denied…`.
struct Server {
    url: String,
    /// Method and bytes of each answer.
    answers: Arc<Mutex<Vec<(String, u64)>>>,
}

impl Server {
    fn new(folder: PathBuf) -> Self {
        Self::replacing(folder, usize::MAX)
    }

    /// Replaces `t.lance` by `new.lance` before it answers the request number `at`.
    fn replacing(folder: PathBuf, at: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers = Arc::<Mutex<Vec<_>>>::default();
        let seen = answers.clone();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if number == at {
                    std::fs::rename(folder.join("new.lance"), folder.join("t.lance")).unwrap();
                }
                let (folder, seen) = (folder.clone(), seen.clone());
                std::thread::spawn(move || {
                    let answer = answer(stream.unwrap(), &folder);
                    seen.lock().unwrap().push(answer);
                });
            }
        });
        Self { url, answers }
    }

    /// Bytes that were fetched since the last call.
    fn fetched(&self) -> u64 {
        let answers = std::mem::take(&mut *self.answers.lock().unwrap());
        answers.iter().filter(|(method, _)| method == "GET").map(|(_, bytes)| bytes).sum()
    }
}

/// Answers one request; returns its method and the bytes of the answer.
fn answer(mut stream: TcpStream, folder: &Path) -> (String, u64) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let named = |line: &&String| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        lines.iter().find(named).map(|line| line.split_once(':').unwrap().1.trim().to_owned())
    };
    let mut first = lines[0].split(' ');
    let (method, path) = (first.next().unwrap(), first.next().unwrap());
    let file = folder.join(path.trim_start_matches('/'));
    let mut body = vec![0; header("content-length").map_or(0, |n| n.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let mut reply = |status: &str, more: &str, size: usize, bytes: &[u8]| {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {size}\r\nConnection: close\r\n");
        let _ = stream.write_all(format!("{head}{more}\r\n").as_bytes());
        let _ = stream.write_all(bytes);
        (method.to_owned(), bytes.len() as u64)
    };
    if path.contains("denied") {
        return reply("403 Forbidden", "", 0, b"");
    }
    if method == "PUT" {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, body).unwrap();
        return reply("201 Created", "", 0, b"");
    }
    let Ok(bytes) = std::fs::read(&file) else { return reply("404 Not Found", "", 0, b"") };
    // As good as any other, for bytes that differ in a few places.
    let sum = bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(*byte));
    let tag = format!("\"{sum:x}\"");
    if header("if-match").is_some_and(|wanted| wanted != tag) {
        return reply("412 Precondition Failed", "", 0, b"");
    }
    let tag = format!("ETag: {tag}\r\n");
    if method == "HEAD" {
        return reply("200 OK", &tag, bytes.len(), b"");
    }
    let Some(range) = header("range") else { return reply("200 OK", "", bytes.len(), &bytes) };
    let (start, end) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    let (start, end) = (start.parse().unwrap(), end.parse::<usize>().unwrap());
    let end = end.min(bytes.len() - 1);
    let more = format!("{tag}Content-Range: bytes {start}-{end}/{}\r\n", bytes.len());
    let part = &bytes[start..=end];
    reply("206 Partial Content", &more, part.len(), part)
}

fn served(name: &str) -> (Dir, Server) {
    let dir = Dir::new(name);
    dir.write("t.csv", TABLE);
    for ending in ["lance", "parquet", "arrow", "jsonl"] {
        dir.lancet(&format!("convert t.csv t.{ending}")).ok();
    }
    let server = Server::new(dir.path(""));
    (dir, server)
}

#[test]
fn every_command_reads_over_http() {
    let (dir, server) = served("cloud-read");
    let url = &server.url;
    for ending in ["lance", "parquet", "arrow", "jsonl", "csv"] {
        assert_eq!(dir.lancet(&format!("cat {url}/t.{ending} --format csv")).ok(), TABLE);
        dir.lancet(&format!("convert {url}/t.{ending} back.csv")).ok();
        assert_eq!(dir.read("back.csv"), TABLE, "{ending}");
        let schema = dir.lancet(&format!("schema {url}/t.{ending}")).ok();
        assert!(schema.starts_with(&format!("{url}/t.{ending}: ")), "{schema}");
    }
    let taken = dir.lancet(&format!("take {url}/t.lance --rows 2,0 --format csv")).ok();
    assert_eq!(taken, "id,name\n3,cy\n1,ada\n");
    assert!(dir.lancet(&format!("inspect {url}/t.lance")).ok().contains("rows      3"));
    assert!(dir.lancet(&format!("stats {url}/t.lance")).ok().contains("t.lance: 3 rows"));
    assert!(dir.lancet(&format!("verify {url}/t.lance")).ok().contains("t.lance: sound"));
    let both = dir.lancet(&format!("cat {url}/t.lance t.csv --columns id --format csv")).ok();
    assert_eq!(both, "id\n1\n2\n3\n1\n2\n3\n");
}

#[test]
fn only_what_is_needed_is_fetched() {
    let dir = Dir::new("cloud-little");
    let text = |i: u64| format!("{:x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let rows: String = (0..300_000).map(|i| format!("{i},{},{}\n", text(i), text(!i))).collect();
    dir.write("t.csv", format!("id,a,b\n{rows}"));
    dir.lancet("convert t.csv t.lance --page-bytes 1MB").ok();
    let size = dir.path("t.lance").metadata().unwrap().len();
    let server = Server::new(dir.path(""));
    let url = &server.url;
    let fetched = |args: &str| {
        dir.lancet(args).ok();
        server.fetched()
    };
    assert!(size > 4_000_000, "{size}");
    let schema = fetched(&format!("schema {url}/t.lance"));
    assert!(schema < size / 20, "{schema} of {size}");
    let take = fetched(&format!("take {url}/t.lance --rows 7,150000 --columns id"));
    assert!(take < size / 4, "{take} of {size}");
    let cat = fetched(&format!("cat {url}/t.lance --columns a --rows 10..20"));
    assert!(cat < size / 4, "{cat} of {size}");
}

#[test]
fn a_file_that_is_replaced_is_not_mixed() {
    let dir = Dir::new("cloud-replaced");
    for (name, start) in [("old", 1_000_000), ("new", 5_000_000)] {
        let rows: String = (start..start + 100_000).map(|i| format!("{i},{name} {i}\n")).collect();
        dir.write(&format!("{name}.csv"), format!("id,text\n{rows}"));
        dir.lancet(&format!("convert {name}.csv {name}.lance --page-bytes 64kB")).ok();
    }
    std::fs::copy(dir.path("new.lance"), dir.path("kept.lance")).unwrap();
    let (old, new) = (dir.read("old.csv"), dir.read("new.csv"));
    let mut refused = 0;
    for at in 0..20 {
        std::fs::copy(dir.path("old.lance"), dir.path("t.lance")).unwrap();
        std::fs::copy(dir.path("kept.lance"), dir.path("new.lance")).unwrap();
        let url = Server::replacing(dir.path(""), at).url;
        let ran = dir.lancet(&format!("cat {url}/t.lance --format csv"));
        if ran.code == 0 {
            assert!(ran.stdout == old || ran.stdout == new, "replaced at request {at}");
        } else {
            let message = &ran.stderr;
            assert!(message.contains("it has changed while it was read; try again"), "{message}");
            refused += 1;
        }
    }
    assert!(refused > 0);
}

#[test]
fn files_are_written_over_http() {
    let (dir, server) = served("cloud-write");
    let url = &server.url;
    let ran = dir.lancet(&format!("convert t.csv {url}/new.lance"));
    assert!(ran.stderr.starts_with("3 rows: 25 B in, "), "{}", ran.stderr);
    assert!(!ran.stderr.contains("replaced"), "{}", ran.stderr);
    assert_eq!(dir.lancet("cat new.lance --format csv").ok(), TABLE);
    let ran = dir.lancet(&format!("convert t.csv {url}/new.lance"));
    assert!(ran.stderr.ends_with(&format!("; replaced {url}/new.lance\n")), "{}", ran.stderr);
    let message = dir.lancet(&format!("convert t.csv {url}/new.lance --no-clobber")).failed();
    assert!(message.contains("exists already"), "{message}");
    let ran = dir.lancet(&format!("convert t.csv {url}/new.lance --skip-existing"));
    assert!(ran.stderr.starts_with("skipped http://"), "{}", ran.stderr);
    dir.lancet(&format!("cat t.lance --columns id -o {url}/ids.csv")).ok();
    assert_eq!(dir.read("ids.csv"), "id\n1\n2\n3\n");
    dir.lancet(&format!("convert t.parquet {url}/out/ --to csv")).ok();
    assert_eq!(dir.read("out/t.csv"), TABLE);
    // Larger than what is sent at once.
    dir.write("large.csv", format!("id\n{}", "123456789\n".repeat(1_000_000)));
    dir.lancet(&format!("convert large.csv {url}/large.jsonl")).ok();
    assert_eq!(dir.path("large.jsonl").metadata().unwrap().len(), 17_000_000);
}

#[test]
fn failures_name_the_url_and_leave_nothing() {
    let (dir, server) = served("cloud-fail");
    let url = &server.url;
    for args in ["cat", "schema", "inspect", "verify", "take --rows 1"] {
        let message = dir.lancet(&format!("{args} {url}/no.lance")).failed();
        assert_eq!(message, format!("{url}/no.lance: no such file"));
    }
    let message = dir.lancet(&format!("cat {url}/no.csv")).failed();
    assert_eq!(message, format!("{url}/no.csv: no such file"));
    std::fs::create_dir(dir.path("temp")).unwrap();
    let temp = dir.path("temp");
    for args in [
        format!("cat t.csv -o {url}/denied.csv"),
        format!("cat t.lance -o {url}/denied.lance"),
        format!("convert {url}/denied.csv a.lance"),
        format!("convert {url}/t.jsonl {url}/denied.lance"),
    ] {
        let output = dir.command(&args).env("TMPDIR", &temp).env("TMP", &temp).output().unwrap();
        let message = Ran::new(&args, output).failed();
        assert!(message.contains("/denied.") && message.contains("denies it"), "{message}");
        assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 0, "lancet {args}");
    }
    assert!(!dir.path("a.lance").exists());
    std::fs::write(dir.path("bad.lance"), "no Lance file at all").unwrap();
    let message = dir.lancet(&format!("cat {url}/bad.lance")).failed();
    assert!(message.starts_with(&format!("{url}/bad.lance: ")), "{message}");
    let message = dir.lancet(&format!("verify {url}/t.csv")).failed();
    assert!(message.contains("reads Lance files, not CSV"), "{message}");
}

#[test]
fn options_of_stores_are_checked() {
    let (dir, server) = served("cloud-options");
    let url = &server.url;
    dir.lancet(&format!("cat {url}/t.lance --store-option timeout=20s")).ok();
    let ran = dir.lancet(&format!("cat {url}/t.lance --store-option aws_region=x"));
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("--store-option aws_region: this store has no such option"));
    assert_eq!(dir.lancet(&format!("cat {url}/t.lance --store-option timeout")).code, 2);
    let message = dir.lancet(&format!("cat {url}/t.lance?version=1")).failed();
    assert!(message.contains("is not supported"), "{message}");
}
