"""Alembic's entry point: runs the migrations on the caller's connection, in its transaction."""

from alembic import context

given = context.config.attributes
context.configure(connection=given["connection"], target_metadata=given["metadata"])
context.run_migrations()
