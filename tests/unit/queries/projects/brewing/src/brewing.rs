fn brew() {
    //= tea.md#brewing
    //# The water MUST boil.
    boil();
    //= tea.md#brewing
    //# The leaves MUST be dry.
    dry();
    //= tea.md#brewing
    //# The cup MUST be warm
    warm();
}

//= tea.md#brewing
//= type=todo
//= feature=drying
//= tracking-issue=12
//# The leaves MUST be dry.

//= tea.md#brewing
//= type=todo
//# The leaves MUST NOT be old.

//= tea.md#brewing
//= type=todo
//= tracking-issue=https://issues.example/7
//# The leaves MUST NOT be old.

//= tea.md#brewing
//= type=exception
//= reason=There is no other here.
//# Sugar SHOULD be brown.

//= tea.md#brewing
//= type=implication
//# A lemon SHOULD be at hand.

//= tea.md#serving
//= type=exception
//# A biscuit MAY be offered.

//= pot.md#lid
//= type=spec
//# The lid is round.
