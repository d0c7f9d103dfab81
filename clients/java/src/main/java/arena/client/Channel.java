package arena.client;

import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import arena.v1.RegisterBotRequest;
import arena.v1.RegisterBotResponse;
import com.google.rpc.Status;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Access to the server for one try. Answers arrive later, never during a call, and none of its methods waits. */
interface Channel {
    /** One gRPC stream. */
    interface Call {
        void write(PlayRequest request);

        /** Closes the bot's side. */
        void end();

        /** Cancels the whole stream. */
        void cancel();
    }

    /** Receivers of the events on a stream. */
    record Events(Consumer<PlayResponse> message, Consumer<Status> ended) {}

    Call play(String token, Events events);

    /** Registers; `patience` is the time limit in nanoseconds. `registered` gets a null answer if the call failed. */
    void register(RegisterBotRequest request, long patience, BiConsumer<RegisterBotResponse, Status> registered);

    void close();
}
