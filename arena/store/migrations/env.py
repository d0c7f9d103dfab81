"""What Alembic runs: the migrations, on the connection and in the transaction of its caller."""

from alembic import context

from arena.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
