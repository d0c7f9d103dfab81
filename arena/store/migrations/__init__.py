"""How the tables came to be: one migration a change, numbered in order. A migration is never edited once released."""
