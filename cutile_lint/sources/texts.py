"""What two texts have in common."""

from __future__ import annotations


def unchanged(old: bytes, new: bytes) -> tuple[int, int]:
    """How many bytes of two texts are equal from the start, and how many of what is left are from the end.

    A line that has come before one that begins like it has come as a whole: not from behind what they have in common.
    """
    head = equal_start(old, new)
    tail = equal_start(old[head:][::-1], new[head:][::-1])
    shorter, longer = sorted((old, new), key=len)
    if head + tail == len(shorter):
        line, size = longer.rfind(b"\n", 0, head) + 1, len(longer) - len(shorter)
        if longer[line:head] == longer[line + size : head + size]:
            return line, tail + head - line
    return head, tail


def equal_start(left: bytes, right: bytes) -> int:
    """Number of leading bytes that are equal."""
    size = min(len(left), len(right))
    if left[:size] == right[:size]:
        return size
    low, high = 0, size  # left[:low] == right[:low], and not so for high
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low
