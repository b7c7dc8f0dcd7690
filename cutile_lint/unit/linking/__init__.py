"""Which files make up an op, and what a name in one of them means."""
