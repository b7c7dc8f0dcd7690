"""A small symbolic executor over the syntax tree of both languages.

It runs an op's callable (or a Rust export, or a device kernel) once, with symbols for what is not known, and writes down what happens in
order: calls, launches, raises, each with its path condition. Branches are run one after the other and joined; helpers, closures,
partials and macros are entered; loops are run once unless what they iterate is known.
"""
