"""The boundary between Python and Rust, slot by slot."""
