//! Enums whose variants have a name in a spec. Each name is written once, beside its variant.

/// Declares an enum with the name of each variant. Reading, writing and the list of allowed values follow from it.
macro_rules! choice {
    (
        $(#[$of_enum:meta])*
        pub enum $Enum:ident { $($(#[$of_variant:meta])* $Variant:ident = $name:literal,)+ }
    ) => {
        $(#[$of_enum])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub enum $Enum { $($(#[$of_variant])* $Variant,)+ }

        impl $Enum {
            /// Names in the order of the variants.
            pub const NAMES: &'static [&'static str] = &[$($name),+];
            pub const ALL: [Self; Self::NAMES.len()] = [$(Self::$Variant),+];

            /// Returns the name that suites, files and tables use.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name),+ }
            }

            /// Returns the variant with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|choice| choice.name() == name)
            }
        }

        impl $crate::spec::field::Field for $Enum {
            fn to_value(&self) -> Option<$crate::spec::value::Value> {
                Some(self.name().into())
            }

            fn from_value(value: &$crate::spec::value::Value) -> Self {
                Self::named(value.text()).expect("the key's kind lets only names of the enum in")
            }
        }
    };
}
pub(super) use choice;

#[cfg(test)]
mod tests {
    use crate::spec::field::Field;
    use crate::spec::value::Value;

    choice! {
        pub enum Colour {
            #[default]
            Red = "red",
            DarkBlue = "dark-blue",
        }
    }

    #[test]
    fn every_variant_is_read_by_the_name_it_is_written_with() {
        assert_eq!(Colour::NAMES, ["red", "dark-blue"]);
        for colour in Colour::ALL {
            assert_eq!(Colour::named(colour.name()), Some(colour));
            assert_eq!(Colour::from_value(&colour.to_value().unwrap()), colour);
        }
    }

    #[test]
    fn no_other_name_is_read_as_a_variant() {
        for name in ["", "Red", "blue", "red "] {
            assert_eq!(Colour::named(name), None, "{name}");
        }
    }

    #[test]
    #[should_panic(expected = "only names of the enum")]
    fn a_value_that_names_no_variant_never_becomes_one() {
        let _ = Colour::from_value(&Value::from("green"));
    }
}
