"""Compile options from config to setter, and against the reference; and their fixes."""
