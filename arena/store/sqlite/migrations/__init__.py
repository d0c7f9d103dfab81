"""Alembic migrations, numbered in order, one for each schema change. A released migration is never edited."""
