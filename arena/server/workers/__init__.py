"""Work outside the server's event loop: actions of house bots, replays of deals for the luck column, and the
webhook.
"""
