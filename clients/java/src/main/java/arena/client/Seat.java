package arena.client;

import com.google.protobuf.ByteString;

/** Facts that a bot knows from a match's start; the nonce is empty if an earlier run of the program sent it. */
record Seat(ByteString nonce, ByteString salt, ByteString commitment) {}
