//= tea.md#brewing
//# The server MUST warm the pot before the leaves are added.
fn warm() {}

//= tea.md#brewing
//= type=test
//# The server MUST warm the pot before the leaves are added.
fn warms() {}

//= retry.md#validation
//= type=todo
//# An error of the connection SHOULD be logged.
