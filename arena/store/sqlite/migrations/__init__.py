"""Alembic migrations, numbered in order, one for each schema change since `schema.OLDEST`.

A released migration is never edited. A new database is created from `schema.metadata`, without migrations. A test
compares it with a migrated database.
"""
