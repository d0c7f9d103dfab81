package arena.client;

import com.google.protobuf.ByteString;

/** A bot's knowledge of a match at its beginning; its nonce is empty if an earlier run of the program sent it. */
record Seat(ByteString nonce, ByteString salt, ByteString commitment) {}
