"""The reads and computations of pages, done beside the event loop and cached for a while."""
