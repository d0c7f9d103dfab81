//! Reads a bot's token from a file, and writes a new token file through a draft beside it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom, SystemRandom};

use crate::errors::Error;
use crate::private_file::{beside, replace};

/// Returns a bot's token file in the user's home. As on the server, the name's case does not matter.
pub(crate) fn default_token_file(address: &str, name: &str) -> Result<PathBuf, Error> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).ok_or_else(|| {
        Error::bad_argument("there is no home for the token file: name one with `token_file` or ARENA_TOKEN_FILE")
    })?;
    let safe = |text: &str| -> String {
        let kept = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._-".contains(letter);
        text.to_lowercase().chars().map(|letter| if kept(letter) { letter } else { '_' }).collect()
    };
    Ok(home.join(".arena/tokens").join(format!("{}-{}.token", safe(address), safe(name))))
}

/// Returns the token in the file; `None` if the file is missing or empty.
pub(crate) fn read_token(file: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|token| !token.is_empty())),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(problem) => Err(Error::unusable(file, &problem)),
    }
}

/// A token for a bot that is about to register. Until the server answers, it is in a file beside
/// its final file, so that a full disk or a lost answer does no harm. The next try sends the same
/// token.
pub(crate) struct NewToken {
    pub token: String,
    pub file: PathBuf,
    draft: PathBuf,
}

impl NewToken {
    /// Uses the token that an earlier try left beside the file, or creates a new token.
    pub fn offer(file: &Path) -> Result<Self, Error> {
        let draft = beside(file, ".new");
        if let Some(token) = read_token(&draft)? {
            return Ok(Self { token, file: file.into(), draft });
        }
        let mut chance = [0; 32];
        SystemRandom::new().fill(&mut chance).expect("the operating system has chance");
        let made = Self { token: format!("arena_{}", BASE64_URL_SAFE_NO_PAD.encode(chance)), file: file.into(), draft };
        made.write(&made.token)?;
        Ok(made)
    }

    /// Stores the token from the server's answer in the final file, atomically.
    pub fn keep(&self, token: &str) -> Result<(), Error> {
        if token != self.token {
            self.write(token)?; // an older server, which creates tokens itself
        }
        fs::rename(&self.draft, &self.file).map_err(|problem| Error::unusable(&self.file, &problem))
    }

    /// Deletes the token that the server refused.
    pub fn discard(&self) {
        let _ = fs::remove_file(&self.draft);
    }

    fn write(&self, token: &str) -> Result<(), Error> {
        replace(&self.draft, &format!("{token}\n")).map_err(|problem| Error::unusable(&self.file, &problem))
    }
}
