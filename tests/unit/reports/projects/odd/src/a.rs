//= main.md#main

//= main.md#main
//# A pot MUST a.

//= main.md#main/cited

//= many.md#many
//# Both MUST be.

//= https://example.com/manners.txt#section-2
//# Guests stay.

//= https://example.com/manners.txt#appendix-A

//= https://example.com/manners.txt#name-abstract

//= main.md#nowhere
//= type=test
//# A
