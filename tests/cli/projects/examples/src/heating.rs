//= spec.md#heating
//# The kettle MUST stop heating when the water boils.
fn heat() {}
