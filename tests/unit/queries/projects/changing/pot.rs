//= tea.md#pot
//# The pot MUST be warm.

//= tea.md#pot
//= type=test
//# The pot MUST be warm.
