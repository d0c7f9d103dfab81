"""The files of replays."""
