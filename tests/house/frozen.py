"""What the house bots are: their versions and choices, which never change."""

FROZEN = {
    ("nullern", "house-random"): ("d61a566b", "f2a55905"),
    ("nullern", "house-careful"): ("bde6a686", "e21022a1"),
    ("nullern", "house-counter"): ("b72fb973", "5e42bd15"),
    ("nullern", "house-search"): ("7d12c36b", "97905c60"),
    ("sixth_sense", "house-random"): ("d61a566b", "6413f970"),
    ("sixth_sense", "house-careful"): ("f88b1056", "368ca6db"),
    ("sixth_sense", "house-counter"): ("02f06ef3", "25e8e2bd"),
    ("sixth_sense", "house-planner"): ("838b1a5a", "ad63cd21"),
    ("sixth_sense", "house-search"): ("33b7791b", "f1f5b7ce"),
}
"""By game and name: the version, and a digest of what the bot chooses at tables that it has for itself.

A bot that searches chooses there now and then only, which is slow enough. Its choices follow from the games, too, that
`Game.sample_many` gives for its chance.

A bot's choices are never changed. A better one is another bot under another name, with lines of its own here. Where
only the choices differ from what is written here, the engine under the bot has changed; where only the version does,
the bot may have become faster.
"""
