"""What a page, a document or a download is sent as."""
