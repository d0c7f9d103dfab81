"""The content of the pages as JSON over HTTP, with an OpenAPI document generated from the same declarations."""
