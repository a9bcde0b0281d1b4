//! Rows of a table, chosen by ids: the embeddings of tokens and of positions (sections 3.4 and 3.5).

use dfdx::prelude::*;

use super::cases::{Call, Case, Inputs};
use super::{OnDevice, Recording, Rows, Size, Table, plain as dynamic};

/// Looks rows up in a table.
pub trait Embedding: OnDevice {
    /// Rows of `table` (`[V, D]`) chosen by `ids`, times `scale`: `[N, D]`. Backward adds the gradient of each row to the
    /// row that it came from.
    fn gather<D: Size>(
        recording: &mut Recording<Self>,
        table: &Table<D, Self>,
        ids: &[u32],
        scale: f32,
    ) -> Rows<D, Self>;

    /// Rows `chosen` of a table that is not trained, row after row.
    fn constant_rows<D: Size>(&self, table: Vec<f32>, chosen: &[u32]) -> Rows<D, Self>;
}

/// [`Embedding::gather`] as dfdx writes it.
pub fn plain<D: Size, Dev: Device<f32>>(
    recording: &mut Recording<Dev>,
    table: &Table<D, Dev>,
    ids: &[u32],
    scale: f32,
) -> Rows<D, Dev> {
    recording.carried(|tape| {
        let classes = table.shape().0;
        let table = table.clone().put_tape(tape).reshape_like(&(classes, D::SIZE));
        (dynamic::gather(table, ids) * scale).reshape_like(&(ids.len(), D::default()))
    })
}

type Operation<D, Dev> = fn(&mut Recording<Dev>, &Table<D, Dev>, &[u32], f32) -> Rows<D, Dev>;

fn call<D: Size, Dev: OnDevice>(
    inputs: &mut Inputs<Dev>,
    classes: usize,
    ids: Vec<u32>,
    operation: Operation<D, Dev>,
) -> Call<Dev> {
    let table = inputs.tensor("table", (classes, D::default()));
    Call::rows(move |recording| operation(recording, &table, &ids, 2.5))
}

fn case<D: Size, Dev: Embedding>(classes: usize, ids: Vec<u32>) -> Case<Dev> {
    let (name, others) = (
        format!("table rows {} of {classes} x {}", ids.len(), D::SIZE),
        ids.clone(),
    );
    Case::new(
        name,
        move |inputs| call::<D, Dev>(inputs, classes, ids.clone(), Dev::gather),
        move |inputs| call::<D, Cpu>(inputs, classes, others.clone(), plain),
    )
}

/// Cases that a device must get right.
#[must_use]
pub fn cases<Dev: Embedding>() -> Vec<Case<Dev>> {
    vec![
        case::<Const<6>, Dev>(11, vec![3, 3, 0, 10, 7, 3, 0]),
        case::<Const<1>, Dev>(1, vec![0]),
    ]
}

/// A case to measure.
#[must_use]
pub fn benchmark<D: Size, Dev: Embedding>(rows: usize, classes: usize) -> Case<Dev> {
    case::<D, Dev>(classes, (0..rows).map(|row| (row * 7919 % classes) as u32).collect())
}
