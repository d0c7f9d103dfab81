"""Work beside the server's loop: choices of house bots, replays of deals for the luck column, and the webhook."""
