"""cutile-lint: reads the layers of a TileGym cutile-rs op together and finds what makes a port wrong or slow."""

__version__ = "0.1.0"
