"""The gRPC services: codecs between protobuf messages and the server's types. They decide nothing."""
