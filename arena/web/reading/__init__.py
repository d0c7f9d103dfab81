"""The reads and computations of pages, outside the event loop and cached."""
