"""What a finding is when lines move: for the baseline, and for formats that compare runs."""

from __future__ import annotations

from hashlib import sha256

from cutile_lint.findings import Finding
from cutile_lint.regex import regex

#: longer texts are cut and end in a hash of the whole
_LONGEST = 100
#: blanks that formatters put in and take out: beside anything that is no word
_BLANKS = regex(r"(?<=\W)\s+|\s+(?=\W)")


def text_of(finding: Finding) -> str:
    """The place's text without regard to blanks and line ends, shortened where it is long."""
    text = _BLANKS.sub("", " ".join(finding.place.text.split()))
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 12]}… {sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"
