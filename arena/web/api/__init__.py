"""The content of the pages as JSON over HTTP, with an OpenAPI document that is made from the same declarations."""
