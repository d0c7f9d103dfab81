package arena.client;

import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import arena.v1.RegisterBotRequest;
import arena.v1.RegisterBotResponse;
import com.google.rpc.Status;

/** Access to the server for one try. Its answers come later, never during a call, and none of its
 * methods waits. */
interface Channel {
    /** One gRPC stream. */
    interface Call {
        void write(PlayRequest request);

        /** Closes the bot's side. */
        void end();

        /** Cancels the whole stream. */
        void cancel();
    }

    /** Events on a stream. */
    interface Events {
        void message(PlayResponse message);

        void ended(Status status);
    }

    /** Receives the answer to a registration; null if the call failed. */
    interface Registered {
        void answered(RegisterBotResponse answer, Status status);
    }

    Call play(String token, Events events);

    /** Registers; `patience` is the time limit in nanoseconds. */
    void register(RegisterBotRequest request, long patience, Registered registered);

    void close();
}
