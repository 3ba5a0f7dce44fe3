//= letters.md#wide
//# The größte Tür MUST be zu

//= letters.md#wide
//# 試験は MUST pass 試験 well.

//= letters.md#twice
//# A cup MUST be clean.

//= letters.md#around
//# Neither matters.
