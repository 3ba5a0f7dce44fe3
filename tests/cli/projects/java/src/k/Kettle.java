class Kettle {
//= spec.md#heating
//# The kettle MUST boil water.
  void boil() {
    heat();
  }
//= spec.md#heating
//# It MUST whistle.
  void whistle() {
    blow();
  }
//= spec.md#heating
//# It MUST have a lid.
  void lid();
//= spec.md#pouring
//# The spout MUST pour.
  @interface Spout {
  }
}
