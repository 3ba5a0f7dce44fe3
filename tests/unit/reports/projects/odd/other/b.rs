//= states.md#kinds
//# Code and tests MUST cite this.
