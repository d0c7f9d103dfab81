//! Creates, extends and replaces files beside a bot's token that only their owner can read.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Returns a path with the given ending added.
pub(crate) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Appends text to a file, and creates the file if it does not exist.
pub(crate) fn append(file: &Path, text: &str) -> io::Result<()> {
    make_folder_of(file)?;
    let mut to = private().append(true).create(true).open(file)?;
    let before = to.metadata()?.len();
    to.write_all(text.as_bytes()).inspect_err(|_| drop(to.set_len(before))) // since half a line would spoil the next
}

/// Truncates a file to the given number of bytes.
pub(crate) fn shorten_to(file: &Path, size: u64) -> io::Result<()> {
    private().write(true).open(file)?.set_len(size)
}

/// Replaces the content of a file, or leaves it unchanged on failure.
pub(crate) fn replace(file: &Path, text: &str) -> io::Result<()> {
    make_folder_of(file)?;
    let whole = beside(file, &format!(".{}", std::process::id()));
    let written = (|| {
        let mut to = private().write(true).create(true).truncate(true).open(&whole)?;
        to.write_all(text.as_bytes())?;
        to.sync_all()?;
        fs::rename(&whole, file)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&whole);
    }
    written
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_folder_of(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}
