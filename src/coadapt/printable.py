"""Text from elsewhere, such as the name of somebody's run, as it may be shown: nothing in it steers the terminal."""


def printable(text: str) -> str:
    """The same text; what cannot be seen, or is no character at all, is written by its number, as Python would."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
