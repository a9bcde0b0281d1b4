//! `ablate export`: a finished run as a folder for other programs.

use std::path::{Path, PathBuf};

use super::args::ExportArgs;
use super::failure::Failure;
use super::output::{put_line, warn};
use crate::record::RunFolder;
use crate::run::{Existing, Export};

const EXPORTS: &str = "exports";

pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let run = RunFolder::open(&args.run)
        .filter(|run| run.spec().is_file() && Export::open(run.path()).is_none())
        .ok_or_else(|| {
            Failure::Usage(format!(
                "{} is not the folder of a run, which is called ROW-sSEED",
                args.run.display()
            ))
        })?;
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => default_folder(&run)?,
    };
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    Export::write(&folder, &run, existing, warn)?;
    put_line(folder.display());
    Ok(())
}

/// `exports/<suite>/<row>-s<seed>`, whatever way the run was named.
fn default_folder(run: &RunFolder) -> Result<PathBuf, Failure> {
    let whole = run.path().canonicalize().map_err(Failure::io(run.path()))?;
    let name = |path: &Path| path.file_name().map(PathBuf::from).unwrap_or_default();
    let suite = whole.parent().map(name).unwrap_or_default();
    Ok(Path::new(EXPORTS).join(suite).join(name(&whole)))
}
