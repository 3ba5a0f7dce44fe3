//! A pot of tea.

//= tea.md#pot
//# The pot MUST be warm.
//= tea.md#pot
//# It SHOULD be round, and nobody MAY drop it.
fn warm(pot: &Pot) {
	pot.heat("[31m");
    pot.turn();

    pot.wait();
}

//= tea.md#cup
//= type=exception
//= reason=Our cups are drawn on paper.
//# A cup MUST NOT leak.

//= tea.md#cup
//= type=todo
//= feature=china
//= tracking-issue=7
//# The pot MUST be warm.

//= tea.md#sugar

//= tea.md#milk
//# Milk MUST be cold.

//= tea.md#pot
//# The pot MUST be cold.

//= rfc7168.txt#section-2
//# TEA-capable pots MUST announce the teas,
//# that they can brew.
fn announce() {}
