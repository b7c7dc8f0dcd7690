"""How inputs that require grad are treated."""
