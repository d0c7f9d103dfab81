"""Reading and computing for the pages, done outside the event loop and cached."""
