"""Generated Tile IR beside kernels and reference."""
