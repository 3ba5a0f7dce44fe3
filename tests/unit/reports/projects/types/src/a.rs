//= tea.md#pot
//# The pot MUST be warm.

//= tea.md#pot
//= type=test
//# The pot MUST
//# be warm. It

//= tea.md#pot
//= type=implication
//= reason=clay
//= format=markdown
//# It SHOULD be round.

//= tea.md#cup
//= type=exception
//= reason=all are "white"
//# A cup MAY be

//= tea.md#cup
//= type=todo
//= feature=paint
//= tracking-issue=7
//= level=MUST
