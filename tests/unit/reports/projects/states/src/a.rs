//= tea.md#pot
//# The pot MUST be warm.

//= tea.md#pot
//= type=test
//# The pot MUST be warm.

//= tea.md#pot
//# It SHOULD be round.

//= tea.md#pot
//= type=test
//# It MAY be <b>brown</b>.

//= tea.md#pot
//= type=implication
//# The lid MUST NOT be lost.

//= tea.md#cup
//# A cup MUST be clean

//= tea.md#cup
//= type=exception
//= reason=saucers are out of fashion
//# A saucer MAY be used.

//= tea.md#cup
//= type=todo
//= feature=cutlery
//= tracking-issue=7
//# A spoon SHOULD be silver ☕.

//= manners.md#guests
//# Guests say thank you.

//= manners.md#guests
//= type=exception
