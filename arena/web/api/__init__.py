"""The content of the pages as JSON over HTTP. An OpenAPI document made of the same declarations describes it."""
