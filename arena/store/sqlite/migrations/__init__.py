"""Alembic migrations, numbered in order, from `schema.OLDEST` to `schema.FIRST`, then one for each schema change.

A released migration is never edited. A new database is created from `schema.metadata`, without migrations. A test
compares it with a migrated database.
"""
