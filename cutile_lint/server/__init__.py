"""The language server: what a client sees of the findings, while it edits (LSP 3.17 over stdio).

``app`` speaks the protocol, on the event loop; ``session`` analyses, on one thread of its own; between them go only texts and
finished results. Nothing here prints: standard output belongs to the protocol.
"""
