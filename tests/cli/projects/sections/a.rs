//= kettle.md#acceptance-criteria
//# The lid MUST be shut.
fn lid() {}
//= kettle.md#requirement-1/acceptance-criteria
//= type=test
//# The pot MUST be warm.
fn pot() {}
//= kettle.md#acceptance-criteria
//# It MUST be blue.
