"""What the program does that the gate must see: one table of calls, and its installation."""
