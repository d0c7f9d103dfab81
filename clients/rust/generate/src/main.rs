//! Generates the protocol's code: `cargo run -p generate -- PROTOS FOLDER`, where PROTOS contains `arena/v1/*.proto`
//! and FOLDER is for the output.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    let [protos, to] = env::args()
        .skip(1)
        .map(PathBuf::from)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: generate PROTOS FOLDER")?;
    let files = ["play", "bots", "log"].map(|name| protos.join(format!("arena/v1/{name}.proto")));
    let mut described = protox::compile(files, [&protos])?;
    let grows = "#[non_exhaustive]"; // authors get these as `Catalog`, `Card` and `Action`
    tonic_prost_build::configure()
        .build_server(false)
        .btree_map(".")
        .type_attribute(".arena.v1.GameCatalog", grows)
        .type_attribute(".arena.v1.Card", grows)
        .type_attribute(".arena.v1.Action", grows)
        .out_dir(&to)
        .compile_fds(described.clone())?;
    described.file.iter_mut().for_each(|file| file.source_code_info = None);
    fs::write(to.join("arena.v1.binpb"), described.encode_to_vec())?;
    Ok(())
}
