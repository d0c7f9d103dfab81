"""The SQLite implementation of the store's `Database`; only `directory.database_of` imports it."""
