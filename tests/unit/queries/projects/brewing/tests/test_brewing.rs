fn brews() {
    //= tea.md#brewing
    //# The water MUST boil.
    assert!(brew());
    //= tea.md#brewing
    //# The host MUST smile.
    assert!(host());
}
