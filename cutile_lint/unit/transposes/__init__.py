"""Who transposes what, over the three layers."""
