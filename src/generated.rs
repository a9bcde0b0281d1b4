//! One compiled model for every shape that the suites in `experiments/` need: what the build script wrote.

use crate::model::{Architecture, Seq2Seq};
use crate::ops::Ops;
use crate::plan::ShapeKey;

include!(concat!(env!("OUT_DIR"), "/generated.rs"));
