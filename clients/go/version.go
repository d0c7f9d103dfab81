package client

// Version is the version of this module, which is sent to servers.
const Version = "0.1.0"
