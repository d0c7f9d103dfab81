"""What pages read and work out, beside the loop, and keep for a while."""
