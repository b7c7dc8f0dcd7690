"""Reference evidence on disk: ``analysis.json`` with the place of every value."""

from cutile_lint.frontends.reference.analysis import Analysis, Text, Variant, read_analysis
from cutile_lint.frontends.reference.configs import COMPILE_OPTIONS, OPTIONS, ReferenceConfig, option_name
from cutile_lint.frontends.reference.json_places import JsonNode, read_json

__all__ = [
    "COMPILE_OPTIONS",
    "OPTIONS",
    "Analysis",
    "JsonNode",
    "ReferenceConfig",
    "Text",
    "Variant",
    "option_name",
    "read_analysis",
    "read_json",
]
