"""What the pages show as JSON over HTTP, described by an OpenAPI document that is made of the same declarations."""
