    //= spec.md#heating
//# It SHOULD glow,
fn glow() {}
//= spec.md#pouring
fn pour() {}
//= spec.md#pouring
//= type=implication
//# The spout MUST pour.


