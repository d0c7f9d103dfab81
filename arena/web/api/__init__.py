"""The content of the pages as JSON over HTTP. An OpenAPI document from the same declarations describes it."""
