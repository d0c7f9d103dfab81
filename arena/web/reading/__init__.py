"""The reading and computing that pages need, done outside the event loop and cached."""
