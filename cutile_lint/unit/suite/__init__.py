"""The tests of an op: which backends they select, what they skip, what they hide."""
