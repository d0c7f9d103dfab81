package client

// Version is that of this module, which a server is told.
const Version = "0.1.0"
