package arena.client;

import com.google.protobuf.ByteString;

/** What a bot knows of a match from its beginning; its nonce is empty where an earlier run of the program sent it. */
record Seat(ByteString nonce, ByteString salt, ByteString commitment) {}
