//= docs/pot.md#lid
//= type=exception
//# The lid MUST fit the pot so well that no steam gets out of it.

//= docs/pot.md#lid
//# The lid MUST fit the pot
fn fit() {
    //= docs/pot.md#lid
    //# The lid MUST fit the pot
    let example = r#"
//= tea.md#serving
//# Everybody SHOULD wait
"#;
}

//= tea.md#serving
//= type=exeption
//# Everybody SHOULD wait
