//! Generates the protocol's code. `PROTOS` names the folder with `arena/v1/*.proto`.

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let protos = env::var("PROTOS")?;
    let files: Vec<_> = fs::read_dir(Path::new(&protos).join("arena/v1"))?
        .map(|entry| entry.map(|found| found.path()))
        .collect::<Result<_, _>>()?;
    println!("cargo::rerun-if-env-changed=PROTOS");
    println!("cargo::rerun-if-changed={protos}");
    let described = protox::compile(files, [&protos])?;
    tonic_prost_build::configure().build_server(false).compile_fds(described)?;
    Ok(())
}
