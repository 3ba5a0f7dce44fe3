fn main() {}

//= https://www.rfc-editor.org/rfc/rfc2324#section-2.1
//# The system MUST support error handling for invalid inputs.
fn check() {
    refuse();
}

//= https://www.rfc-editor.org/rfc/rfc2324#section-2.1
//= type=test
//# The system MUST support error handling for invalid inputs.
#[test]
fn checks() {}

    //= https://www.rfc-editor.org/rfc/rfc2324#section-2.1.1
    //# Coffee MUST be hot.
    fn heat() {}

//= docs/pot.md#lid
//= type=todo
//# The lid SHOULD shine.

//= invalid

//= https://www.rfc-editor.org/rfc/rfc2324#section-9

//= https://www.rfc-editor.org/rfc/rfc2324#section-2.1
//# Tea MUST be cold.

//= docs/pod.md#lid

//= docs/pot.md#lid
//= colour=black

//= docs/pot.md#lid
//= type=exception
//# The lid MUST
