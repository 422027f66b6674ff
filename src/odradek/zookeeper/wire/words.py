"""Four-letter words: what an operator may say instead of a first frame.

As a length, each of them would be beyond any limit, so a word and a frame are told apart by the
first four bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

WORDS = frozenset(
    b"conf cons crst dirs dump envi gtmk hash isro".split()
    + b"mntr ruok srst srvr stat stmk wchc wchp wchs".split()
)
WORD_BYTES = 4
MASK_BYTES = 8


@dataclass(frozen=True, slots=True)
class FourLetterWord:
    """A word; only `stmk`, which sets a mask, has an argument."""

    word: str
    argument: bytes


def is_word(start: bytes) -> bool:
    """Whether a stream that starts so is a word, not a frame."""
    return start[:WORD_BYTES] in WORDS


def find_word(start: bytes) -> FourLetterWord | None:
    """The word at the start of a stream, or None as long as its argument has not come."""
    end = WORD_BYTES + (MASK_BYTES if start.startswith(b"stmk") else 0)
    if len(start) < end:
        return None
    return FourLetterWord(start[:WORD_BYTES].decode(), start[WORD_BYTES:end])
