//! Fields of an experiment as values of a spec, and back.

use std::path::PathBuf;

use super::value::Value;

/// A type that a key can be stored in.
pub trait Field {
    /// Returns the field's value, or `None` where an optional key is absent.
    fn to_value(&self) -> Option<Value>;
    /// Reads a value that the key's kind allows.
    fn from_value(value: &Value) -> Self;
}

impl Field for usize {
    fn to_value(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn from_value(value: &Value) -> Self {
        value.count()
    }
}

impl Field for f64 {
    fn to_value(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn from_value(value: &Value) -> Self {
        value.real()
    }
}

impl Field for f32 {
    fn to_value(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn from_value(value: &Value) -> Self {
        value.real() as Self
    }
}

impl Field for PathBuf {
    fn to_value(&self) -> Option<Value> {
        Some(self.to_string_lossy().as_ref().into())
    }

    fn from_value(value: &Value) -> Self {
        value.text().into()
    }
}

impl<T: Field> Field for Option<T> {
    fn to_value(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_value)
    }

    fn from_value(value: &Value) -> Self {
        Some(T::from_value(value))
    }
}
