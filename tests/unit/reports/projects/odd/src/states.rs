//= states.md#kinds
//# Code MUST cite this; tests cite a part.

//= states.md#kinds
//= type=test
//# Code MUST

//= states.md#kinds
//= type=todo
//= feature=the  cutlery
//# Code MUST cite this; tests cite a part.

//= states.md#kinds
//= type=test
//# Tests MUST cite this; code cites a part.

//= states.md#kinds
//# Tests MUST

//= states.md#kinds
//= type=exception
//# An exception without a reason MUST cite this.

//= states.md#kinds
//# Code and tests MUST cite this.

//= states.md#kinds
//= type=test
//# Code and tests MUST cite this.

//= states.md#kinds
//# Everything SHOULD cite this.

//= states.md#kinds
//= type=test
//# Everything SHOULD cite this.

//= states.md#kinds
//= type=implication
//# Everything SHOULD

//= states.md#kinds
//= type=implication
//# Implications MUST cite this.
