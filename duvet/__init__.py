"""duvet links specifications to the code that implements and tests them."""
