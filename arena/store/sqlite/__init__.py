"""The SQLite implementation of the store's `Database`. Only `directory.database_of` imports it."""
