//= login.md#FR-001
//# System MUST authenticate users by password.
fn authenticate() {}


//= login.md#FR-002
//# System MUST lock an account after 3 failures.
fn lock() {}


    //= login.md#FR-003
    //= type=todo
    fn mail() {}


//= login.md#requirements
//# System MUST lock an account after 3 failures.
fn lock_again() {}


//= login.md#FR-001
//# System SHOULD mail the owner of a locked account.
fn notify() {}
