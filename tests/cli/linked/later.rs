//= spec.md#heating
//= type=todo
//# The kettle SHOULD beep.
fn later() {}
