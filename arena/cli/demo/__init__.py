"""The demo: a server and three bots in one terminal."""
