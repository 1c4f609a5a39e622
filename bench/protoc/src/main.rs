//! Prints the path of a `protoc`, which the build scripts of the lance crates ask for in `PROTOC`.

fn main() -> Result<(), protoc_bin_vendored::Error> {
    println!("{}", protoc_bin_vendored::protoc_bin_path()?.display());
    Ok(())
}
