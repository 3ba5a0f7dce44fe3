//= tea.md#brewing
//# The water MUST cook before
//#   the leaves are put into the pot.
fn brew() {
    //= tea.md#brewing
    //= type=test
    //# Everybody SHOULD wait until the host has poured the last cup of tea.
    wait();

    //= tea.md#brewing
    //# The leafs MUST be dry.
    //= tea.md#srving
    //# A biscuit MAY be offered to those who ask for one politely.
    offer();

    //= tea.md
    //# The pot MUST be rinsed with water,
    rinse();
}

//= tae.md#cleaning
//# The pot MUST be rinsed with water, and MUST NOT be washed with soap.
fn clean() {}

//= tea.md#serving
//# The pot MUST be rinsed with water, but MUST NOT be washed with soap.
fn clean_again() {}

//= tea.md#serving
//# The lid MUST fit the pot so well that no steam gets out of it.
fn cover() {}

//= tea.md#serving
//# Nothing of the kind was ever written down by anybody.
fn invent() {}

//= ./tea.md#serving
//# Everybody SHOULD wait
fn spell() {}
