class KettleTest {
  void all() {
//= spec.md#heating
//= type=test
//# The kettle MUST boil water.
    boil();
//= spec.md#heating
//= type=test
//# It MUST whistle.
    whistle();
//= spec.md#heating
//= type=test
//# It MUST have a lid.
    lid();
//= spec.md#pouring
//= type=test
//# The spout MUST pour.
    pour();
//= spec.md#pouring
//= type=test
//# It MUST NOT drip.
    drip();
//= spec.md#heating
//= type=test
//# It MAY sing.
    sing();
  }
}
