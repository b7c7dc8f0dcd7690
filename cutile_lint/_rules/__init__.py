"""The rules. In the wheel this package is the folder ``rules/``; in a checkout this file, left out of the wheel, points there."""

from __future__ import annotations

from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2] / "rules"

if (_CHECKOUT / "__init__.py").is_file():
    __path__ = [str(_CHECKOUT)]
