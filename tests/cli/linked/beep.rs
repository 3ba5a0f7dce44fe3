//= spec.md#heating
//# The kettle SHOULD beep.
fn beep() {}
