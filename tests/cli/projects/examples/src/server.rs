

//= retry.md#retry
//# A client MUST send a retry token after a timeout.
fn retry() {}
