"""What a value is worth, where it comes from, and which paths can be taken together."""
