MOST = 4_000
"""So many tokens an agent should pay at once."""


def tokens(text: str) -> int:
    """Return the number of tokens in the older or newer of two vocabularies, whichever is larger."""
    # Importing it reads three vocabularies, which takes seconds.
    from bpe_openai import get_encoding

    return max(len(get_encoding(name).encode(text)) for name in ("o200k_base", "cl100k_base"))
