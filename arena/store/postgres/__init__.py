"""The PostgreSQL implementation of the store's `Database`; only `directory` imports it."""
