//! `report`: pages are well-formed, need nothing else, account for all bytes, and hold what hostile files say as text only.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use lancet::{FileReader, FileWriter, WriteOptions};
use lancet_table::{Table, TableWriteOptions};
use serde_json::Value;

use crate::archives;
use crate::lancet::{Dir, assert_snapshot};
use crate::page::Page;
use crate::table_stats::with_zone_maps;
use crate::tables::with_table;

const MOST_BYTES: usize = 1_000_000;

/// Runs the program in this process.
pub fn report(args: &[&str]) -> Result<String, String> {
    let words = ["lancet", "-q", "report"].iter().chain(args).chain(&["-o", "-"]);
    let mut page = Vec::new();
    lancet_cli::run_into(words.map(OsString::from), &mut page)?;
    Ok(String::from_utf8(page).unwrap())
}

/// The page of a file, looked at.
fn looked_at(path: &Path) -> (Page, usize) {
    let text = report(&[path.to_str().unwrap(), "--no-analyze"]);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(text.len() < MOST_BYTES, "{}: {} bytes", path.display(), text.len());
    (Page::parse(&text), text.len())
}

/// The parts of the map follow one another and are as many bytes as the file has.
fn check_map(page: &Page, file_bytes: u64) {
    let mut at = 0;
    for part in page.data["strip"].as_array().unwrap() {
        assert_eq!(part[3], at, "{part}");
        at += part[0].as_u64().unwrap();
    }
    assert_eq!(at, file_bytes);
    if file_bytes > 0 {
        assert!(page.has_text(&format!("all {} 100.0 %", grouped(file_bytes))), "{}", page.text);
    }
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn lance_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|p| p.extension().is_some_and(|e| e == "lance")).collect();
    found.sort();
    found
}

/// Files of the reference and of lancet, in all versions.
#[test]
fn files_of_all_kinds() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet/tests");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/lance");
    let folders = [tests.join("small"), tests.join("golden"), shared];
    let files: Vec<PathBuf> = folders.iter().flat_map(|folder| lance_files(folder)).collect();
    assert!(files.len() > 30, "{}", files.len());
    for path in files {
        if FileReader::open(&path).is_err() {
            continue;
        }
        let (page, _) = looked_at(&path);
        check_map(&page, std::fs::metadata(&path).unwrap().len());
    }
}

#[test]
fn tables_of_all_kinds() {
    let mut count = 0;
    for tar in archives::all() {
        let name = archives::name(&tar);
        if ["legacy", "v23"].contains(&name) {
            continue;
        }
        let dir = Dir::new("report-tables");
        archives::write_into(&archives::unpack(&tar), &dir.path(""));
        let (table, folder) = (dir.path("table"), dir.path(""));
        let moved = format!("/tmp/lancet-golden/{name}={}", folder.display());
        let page = report(&[table.to_str().unwrap(), "--allow-base", &moved]);
        match page {
            Ok(page) => {
                assert!(page.len() < MOST_BYTES, "{name}: {}", page.len());
                let looked = Page::parse(&page);
                let is_broken = name.starts_with("broken_");
                assert_eq!(looked.has_text("There is damage."), is_broken, "{name}");
                count += 1;
            }
            Err(message) => assert!(name.starts_with("broken_"), "{name}: {message}"),
        }
    }
    assert!(count > 5, "{count}");
}

pub fn write(path: &Path, columns: Vec<(String, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = FileWriter::create(path, batch.schema(), WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

pub fn numbers(rows: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(0..rows))
}

#[test]
fn a_thousand_columns_are_less_than_a_megabyte() {
    let dir = Dir::new("report-wide");
    let scattered = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as f64;
    let columns = (0..1_000_u64).map(|number| {
        let values =
            Float64Array::from_iter_values((0..20_000).map(|row| scattered(row * 1_000 + number)));
        (format!("measurement_{number:04}"), Arc::new(values) as ArrayRef)
    });
    let path = dir.path("wide.lance");
    write(&path, columns.collect());
    let (page, bytes) = looked_at(&path);
    assert!(bytes > 300_000, "{bytes}");
    assert_eq!(page.data["columns"].as_array().unwrap().len(), 1_000);
    assert!(page.data["columns"][7][8]["b"].as_array().unwrap().len() > 1, "it has zones");
    check_map(&page, std::fs::metadata(&path).unwrap().len());
}

/// Names, values and metadata that would be markup if they could.
#[test]
fn hostile_names_and_values_stay_text() {
    let evil = [
        "<script>alert(1)</script>",
        "</script><script>alert(2)</script>",
        "\"><img src=x onerror=alert(3)>",
        "' onmouseover='alert(4)",
        "</title></style><svg/onload=alert(5)>",
        "\u{202e}gnp|exe\u{0}\u{1b}[31m",
        "javascript:alert(6)",
        "{{constructor['constructor']('alert(7)')()}}",
        "&lt;b&gt;&#x3c;script&#x3e;",
    ];
    let dir = Dir::new("report-hostile");
    let values: ArrayRef = Arc::new(StringArray::from_iter_values(evil.iter().cycle().take(900)));
    let svg: ArrayRef = Arc::new(BinaryArray::from_iter_values(
        evil.iter().cycle().take(900).map(|v| v.as_bytes()),
    ));
    let mut columns: Vec<(String, ArrayRef)> =
        evil.iter().map(|name| ((*name).to_owned(), values.clone())).collect();
    columns.push(("binary".into(), svg));
    let path = dir.path("<img src=x onerror=alert(8)>.lance");
    write(&path, columns);
    let (page, _) = looked_at(&path);
    let elements: Vec<&str> = page.elements.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        elements.iter().filter(|name| **name == "script").count(),
        2,
        "data and the program's"
    );
    assert!(!elements.contains(&"img"));
    assert_eq!(page.data["columns"][0][0], evil[0]);
    assert!(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{}", page.text);
    assert!(!page.text.contains('\u{202e}') && !page.text.contains('\u{1b}'));
    // The script writes what is in its data: there, too, nothing turns the direction of text.
    assert_eq!(page.data["columns"][5][0], "\\u{202e}gnp|exe\\u{0}\\u{1b}[31m");
    let mut policy = page.elements.iter().flat_map(|(_, attributes)| attributes);
    let policy = policy.find(|(_, value)| value.starts_with("default-src ")).unwrap();
    assert!(!policy.1.contains("unsafe"), "{}", policy.1);

    // The same in a table: names of columns in manifests, tags.
    let dir = with_table("report-hostile-table", "branches_v22");
    let (page, _) = looked_at(&dir.path("table"));
    assert!(page.has_text("on_main"));
}

/// Files without rows, and with rows but without columns, have short pages that say so.
#[test]
fn empty_files_have_pages_without_empty_pictures() {
    let dir = Dir::new("report-empty");
    let path = dir.path("t.lance");
    write(&path, vec![("id".into(), numbers(0)), ("n".into(), numbers(0))]);
    let (page, _) = looked_at(&path);
    check_map(&page, std::fs::metadata(&path).unwrap().len());
    assert!(page.has_text("Rows 0") && page.has_text("no pages"), "{}", page.text);
    let has = |page: &Page, id: &str| {
        page.elements.iter().flat_map(|(_, all)| all).any(|(key, value)| key == "id" && value == id)
    };
    assert!(!has(&page, "tree") && !has(&page, "pages") && !has(&page, "zones"));

    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(7));
    let schema = Arc::new(arrow_schema::Schema::empty());
    let batch = RecordBatch::try_new_with_options(schema, vec![], &options).unwrap();
    let mut writer = FileWriter::create(&path, batch.schema(), WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let (page, _) = looked_at(&path);
    check_map(&page, std::fs::metadata(&path).unwrap().len());
    assert!(page.has_text("Columns 0") && page.has_text("Rows 7"), "{}", page.text);
    assert!(!has(&page, "find") && !has(&page, "tree") && !has(&page, "pages"));
}

#[test]
fn damage_is_marked_where_it_is() {
    let dir = Dir::new("report-damaged");
    let path = dir.path("t.lance");
    write(&path, vec![("id".into(), numbers(50_000)), ("n".into(), numbers(50_000))]);
    let mut bytes = std::fs::read(&path).unwrap();
    let report = FileReader::open(&path).unwrap().inspect().unwrap();
    let buffer = report.columns[1].pages[0].buffers[1].clone();
    bytes[buffer.position as usize + 100] ^= 0xff;
    std::fs::write(&path, &bytes).unwrap();
    let (page, _) = looked_at(&path);
    assert!(page.has_text("There is damage."));
    let marks = page.data["marks"].as_array().unwrap();
    let is_there = |mark: &Value| {
        (buffer.position..buffer.position + buffer.bytes).contains(&mark["at"].as_u64().unwrap())
    };
    assert!(marks.iter().any(is_there), "{marks:?} {buffer:?}");
    check_map(&page, bytes.len() as u64);

    // One that does not open has a report all the same.
    for cut in [0, 1, 39, bytes.len() / 2, bytes.len() - 3] {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (page, _) = looked_at(&path);
        assert!(page.has_text("The file does not open."), "{cut}");
        check_map(&page, cut as u64);
    }
}

/// The numbers of the page are those of the other commands.
#[test]
fn numbers_are_those_of_inspect() {
    let dir = with_zone_maps("report-numbers", &[]);
    let file = "table/data/made-0.lance";
    let (page, _) = looked_at(&dir.path(file));
    let inspected: Value =
        serde_json::from_str(&dir.lancet(&format!("inspect {file} --json")).ok()).unwrap();
    let columns = page.data["columns"].as_array().unwrap();
    for (shown, column) in columns.iter().zip(inspected["columns"].as_array().unwrap()) {
        assert_eq!((&shown[0], &shown[2]), (&column["name"], &column["bytes"]));
        assert_eq!(
            shown[7].as_array().unwrap().len() as u64,
            column["num_pages"].as_u64().unwrap()
        );
        assert_eq!(shown[1], column["type"]);
    }
    let bytes = inspected["file_bytes"].as_u64().unwrap();
    assert!(page.has_text(&format!("{} bytes", grouped(bytes))));
    assert!(page.has_text("sorted, ascending") && page.has_text("in no order"), "{}", page.text);
}

fn sum(values: &Value, of: impl Fn(&Value) -> &Value) -> u64 {
    values.as_array().unwrap().iter().map(|value| of(value).as_u64().unwrap()).sum()
}

/// The numbers of the page of a table are those of `inspect`, and every byte of every file is told.
fn check_table(dir: &Dir, page: &Page) {
    let inspected = dir.lancet("inspect table --json --pages").ok();
    let inspected: Value = serde_json::from_str(&inspected).unwrap();
    let number = |key: &str| inspected[key].as_u64().unwrap();
    let all = number("file_bytes") + number("side_bytes") + number("deletion_bytes");
    assert!(page.has_text(&format!("all {} 100.0 %", grouped(all))), "{all}: {}", page.text);
    assert_eq!(sum(&page.data["groups"], |group| &group[5]), all);
    assert!(page.has_text(&format!("Rows {}", grouped(number("rows")))), "{}", page.text);
    let columns = inspected["columns"].as_array().unwrap();
    assert_eq!(page.data["columns"].as_array().unwrap().len(), columns.len());
    for (shown, column) in page.data["columns"].as_array().unwrap().iter().zip(columns) {
        let (name, bytes) = (column["name"].as_str().unwrap(), column["bytes"].as_u64().unwrap());
        assert_eq!((&shown[0], &shown[2]), (&column["name"], &column["bytes"]));
        assert_eq!(sum(&shown[7], |pages| &pages[1]), bytes, "{name}");
        assert_eq!(sum(&shown[7], |pages| &pages[4]), column["num_pages"].as_u64().unwrap());
    }
    let shown = page.data["fragments"].as_array().unwrap();
    for (shown, fragment) in shown.iter().zip(inspected["fragments"].as_array().unwrap()) {
        let [physical, deleted] =
            ["physical_rows", "deleted_rows"].map(|key| fragment[key].as_u64().unwrap());
        assert_eq!(shown[0], fragment["id"]);
        assert_eq!((&shown[1], &shown[2]), (&(physical - deleted).into(), &deleted.into()));
        let data = shown[3].as_array().unwrap().iter().filter(|file| file[2] == 0);
        for (shown, file) in data.zip(fragment["files"].as_array().unwrap()) {
            assert_eq!((&shown[0], &shown[1]), (&file["file"], &file["bytes"]));
            let mut at = 0;
            for part in shown[3].as_array().unwrap() {
                assert_eq!(part[3], at, "{part}");
                at += part[0].as_u64().unwrap();
            }
            assert_eq!(at, file["bytes"].as_u64().unwrap());
        }
        let others = shown[3].as_array().unwrap().iter().filter(|file| file[2] == 13);
        let deletions = fragment["deletion_file"]["bytes"].as_u64();
        assert_eq!(others.map(|file| file[1].as_u64().unwrap()).next(), deletions);
    }
}

#[test]
fn numbers_of_tables_are_those_of_inspect() {
    let dir = with_zone_maps("report-table-numbers", &[1, 2, 3]);
    let (page, _) = looked_at(&dir.path("table"));
    check_table(&dir, &page);
    assert_eq!(page.data["fragments"].as_array().unwrap().len(), 3);
    // Ids ascend through all fragments; the second has no prices; words lie everywhere.
    let zones = |column: usize| &page.data["columns"][column][8];
    assert_eq!(zones(0)["o"], "sorted, ascending");
    assert_eq!(zones(0)["b"].as_array().unwrap().len(), 9, "three zones each");
    assert_eq!(zones(1)["b"][3], serde_json::json!([null, null, 100]));
    assert_eq!(zones(2)["o"], "in no order");
    assert!(page.has_text("id sorted, ascending 9"), "{}", page.text);
    // Pages say which fragment they are in.
    let pages = page.data["columns"][0][7].as_array().unwrap();
    let fragments: Vec<u64> = pages.iter().map(|page| page[6].as_u64().unwrap()).collect();
    assert!(fragments.is_sorted() && fragments.contains(&2), "{fragments:?}");
    let tried = Page::parse(&report(&[dir.path("table").to_str().unwrap()]).unwrap());
    assert!(tried.has_text("with each profile") && tried.has_text("recommend"), "{}", tried.text);

    // Tables of the reference: several files a fragment, blobs beside them, columns that were dropped.
    for name in ["rebased_v20", "nested_changes_v22", "blob_v21", "spilled_lineage_v21"] {
        let dir = with_table(&format!("report-numbers-{name}"), name);
        let (page, _) = looked_at(&dir.path("table"));
        check_table(&dir, &page);
    }
}

/// A table of one column in very many fragments, and of very many columns in some: both stay small, and say what they left out.
#[test]
fn large_tables_have_small_pages() {
    let dir = Dir::new("report-fragments");
    let batch = |columns: u64, rows: i64| {
        let column = |number| (format!("measurement_{number:04}"), numbers(rows));
        RecordBatch::try_from_iter((0..columns).map(column)).unwrap()
    };
    let create = |batch: RecordBatch, rows: u64| {
        let _ = std::fs::remove_dir_all(dir.path("table"));
        let options = TableWriteOptions::default().with_max_rows_per_fragment(rows);
        let schema = batch.schema();
        let batches = arrow_array::RecordBatchIterator::new([Ok(batch)], schema);
        Table::create_with(dir.path("table"), batches, &options).unwrap();
    };
    create(batch(2, 1_200), 1);
    let (page, _) = looked_at(&dir.path("table"));
    check_table(&dir, &page);
    assert_eq!(page.data["groups"].as_array().unwrap().len(), 200);
    assert_eq!(page.data["fragments"].as_array().unwrap().len(), 1_000);
    assert!(page.has_text("900 more files and those of 200 more fragments are not listed"));

    create(batch(1_000, 40), 8);
    let (page, bytes) = looked_at(&dir.path("table"));
    check_table(&dir, &page);
    assert!(bytes > 300_000, "{bytes}");
    assert!(page.has_text("970 more columns not drawn here."), "{}", page.text.len());
}

#[test]
fn encodings_are_tried() {
    let dir = Dir::new("report-why");
    let path = dir.path("t.lance");
    write(&path, vec![("id".into(), numbers(20_000))]);
    let page = Page::parse(&report(&[path.to_str().unwrap()]).unwrap());
    assert!(page.has_text("with each profile") && page.has_text("recommend"), "{}", page.text);
    let without = Page::parse(&report(&[path.to_str().unwrap(), "--no-analyze"]).unwrap());
    assert!(!without.has_text("with each profile"));
}

#[test]
fn two_files_are_compared() {
    let dir = Dir::new("report-compare");
    let (a, b) = (dir.path("a.lance"), dir.path("b.lance"));
    write(&a, vec![("id".into(), numbers(9_000)), ("only_a".into(), numbers(9_000))]);
    write(&b, vec![("id".into(), numbers(9_000)), ("only_b".into(), numbers(9_000))]);
    let text = report(&[a.to_str().unwrap(), b.to_str().unwrap()]).unwrap();
    let page = Page::parse(&text);
    for words in ["only in the first", "only in the second", "The second file is as large"] {
        assert!(page.has_text(words), "{words}: {}", page.text);
    }
    let message =
        report(&[a.to_str().unwrap(), dir.path("c.lance").to_str().unwrap()]).unwrap_err();
    assert!(message.contains("c.lance: no such file"), "{message}");
}

#[test]
fn a_small_page() {
    let dir = Dir::new("report-small");
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet/tests/small");
    std::fs::copy(small.join("all_null_v22.lance"), dir.path("t.lance")).unwrap();
    let written = dir.lancet("report t.lance").ok();
    assert!(written.starts_with("t-report.html: "), "{written}");
    let page = dir.read("t-report.html");
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (body, script) = rest.split_once("\n<script>").unwrap();
    // The hashes change with every word of the script and the style.
    let mut parts = head.split("sha256-");
    let mut shown = parts.next().unwrap().to_owned();
    parts.for_each(|part| {
        shown += &format!("sha256-HASH&#39;{}", part.split_once("&#39;").unwrap().1)
    });
    assert!(script.ends_with("</script>\n</body></html>\n"));
    assert_snapshot("report", &format!("{shown}<style></style>{body}\n"));
    for (args, code) in [
        ("report missing.lance", 1),
        ("report t.lance -o .", 1),
        ("report t.lance -o - --open", 2),
        ("report t.lance --version 3", 2),
        ("report", 2),
    ] {
        assert_eq!(dir.lancet(args).code, code, "{args}");
    }
}

/// A browser, where there is one: `apt-get install chromium` has the tests below look at the pages in it.
fn browser() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|p| p.is_file())
}

/// What a page is after its script has run, and what it complained about.
fn run_in_browser(dir: &Dir, page: &str) -> Option<(String, String)> {
    let Some(browser) = browser() else {
        println!("there is no browser here; install chromium to have pages looked at");
        return None;
    };
    let ran = std::process::Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.path("browser").display()))
        .arg(format!("file://{}", dir.path(page).display()))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Some((text(ran.stdout), text(ran.stderr)))
}

/// The script of the page runs, under the policy of the page, and draws.
#[test]
fn pages_in_a_browser() {
    let dir = with_zone_maps("report-browser", &[1, 2, 3]);
    dir.lancet("-q report table/data/made-0.lance -o file.html").ok();
    dir.lancet("-q report table -o table.html").ok();
    dir.lancet("-q report table/data/made-0.lance table/data/made-1.lance -o both.html").ok();
    for page in ["file.html", "table.html", "both.html"] {
        let Some((dom, complaints)) = run_in_browser(&dir, page) else { return };
        let complaint = complaints.lines().find(|line| line.contains("CONSOLE"));
        assert_eq!(complaint, None, "{page}");
        assert!(dom.contains("</html>"), "{page}: {complaints}");
        if page != "both.html" {
            let map = dom.split("id=\"map\"").nth(1).unwrap().split("</section>").next().unwrap();
            assert!(map.matches("<rect").count() >= 3, "{map}");
            assert!(dom.contains("class=\"band\""), "zones are drawn");
        }
        if page != "both.html" {
            let tree = dom.split("id=\"tree\"").nth(1).unwrap().split("</div>").next().unwrap();
            assert!(tree.matches("<a ").count() >= 3, "{tree}");
        }
    }
}

/// Keys, clicks, sorting and searching do what they should. The probes are no scripts of the page, so that its policy is left
/// out here.
#[test]
fn pages_answer_in_a_browser() {
    let dir = with_zone_maps("report-answers", &[1, 2, 3]);
    for (what, probe) in [
        ("table/data/made-0.lance", include_str!("../support/probe.js")),
        ("table", include_str!("../support/probe_table.js")),
    ] {
        let page = report(&[dir.path(what).to_str().unwrap(), "--no-analyze"]).unwrap();
        run_probe(&dir, &page, probe);
    }
}

/// Runs a script behind that of a page, which says in the title what it found.
pub fn run_probe(dir: &Dir, page: &str, probe: &str) {
    let (head, rest) = page.split_once("<meta http-equiv").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let probe = format!("<script>{probe}</script></body>");
    dir.write("probed.html", format!("{head}{}", rest.replace("</body>", &probe)));
    let Some((dom, complaints)) = run_in_browser(dir, "probed.html") else { return };
    let title = dom.split("<title>").nth(1).unwrap_or_default().split('<').next();
    assert_eq!(title, Some("ALL ANSWERED"), "{complaints}");
}
