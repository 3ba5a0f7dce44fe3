//= spec.md#heating
//# The kettle MUST boil water.
fn boil() {}
//= spec.md#heating
//= type=test
//# The kettle MUST boil water.
fn boils() {}
//= spec.md#heating
//# It MUST
fn whistle() {}
//= spec.md#heating
//= type=todo
//# It MUST whistle.


//= spec.md#heating
//= type=todo
//# It MAY sing.


//= spec.md#heating
//# It SHOULD glow,
fn glow() {}
//= spec.md#heating
//= type=test
//# It SHOULD glow
fn glows() {}
