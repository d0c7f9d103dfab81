"""Bots, owners, moderation and parking as rows."""
