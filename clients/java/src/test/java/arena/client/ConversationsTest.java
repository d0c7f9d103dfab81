package arena.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.EventEntry;
import arena.v1.Hello;
import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import arena.v1.Ready;
import arena.v1.RegisterBotRequest;
import arena.v1.RegisterBotResponse;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Plays the conversations of clients/conformance with the whole client and its connection on a virtual clock; only gRPC is
 * scripted. clients/conformance/README.md explains the steps.
 */
class ConversationsTest {
    @TempDir Path folder;

    @Test
    void thereAreConversations() throws IOException {
        assertTrue(Corpus.conversations().size() >= 50, "there are fewer conversations");
    }

    @TestFactory
    List<DynamicTest> conversations() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Corpus.Conversation script : Corpus.conversations()) {
            Path tokenFile = folder.resolve("bot" + tests.size()).resolve("token");
            tests.add(DynamicTest.dynamicTest(script.title(), () -> new Performance(script, tokenFile).play()));
        }
        return tests;
    }

    @Test
    void whatALostStreamAskedIsAnsweredOnTheNextOnly() {
        Performance lost = new Performance(new Corpus.Conversation("", new JsonObject(), List.of()), folder.resolve("token"));
        lost.begin();
        JsonElement asks = JsonParser.parseString(
                "{'like': 'welcome', 'decisions': [{'matchId': '1', 'decisionId': 7, 'legal': [2, 3], 'sixthSense': {}}]}");
        ScriptedCall first = lost.next(ScriptedCall.class);
        lost.call = first;
        lost.step("server", asks);
        lost.step("breaks", JsonParser.parseString("{'status': 'UNAVAILABLE'}")); // before the bot handles it
        lost.clock.pass(TimeUnit.MILLISECONDS.toNanos(100), () -> { }, () -> false);
        lost.call = lost.next(ScriptedCall.class);
        lost.step("server", asks);
        lost.settle();
        assertEquals(List.of("decide 1/7 0+0"), lost.bot.told);
        assertEquals(List.of(0, 1), Stream.of(first, lost.call)
                .map(each -> each.said.stream().mapToInt(PlayRequest::getAnswersCount).sum()).toList());
    }

    /** A stream whose other side is the script. */
    private static final class ScriptedCall implements Channel.Call {
        final String address;
        final String token;
        final Channel.Events events;
        final List<PlayRequest> said = new ArrayList<>();
        boolean closed;
        boolean cancelled;

        ScriptedCall(String address, String token, Channel.Events events) {
            this.address = address;
            this.token = token;
            this.events = events;
        }

        @Override
        public void write(PlayRequest request) {
            if (!cancelled) {
                said.add(request);
            }
        }

        @Override
        public void end() {
            closed = true;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    private record ScriptedRegistration(RegisterBotRequest request, BiConsumer<RegisterBotResponse, Status> registered) {}

    /** One conversation being played. It is also the channel of its connection. */
    private static final class Performance implements Channel {
        private static final JsonObject SHARED = Corpus.read("messages.json").getAsJsonObject();

        private final Corpus.Conversation script;
        private final Path tokenFile;
        private final VirtualClock clock = new VirtualClock();
        private final ScriptedBot bot;
        private final Deque<Object> tries = new ArrayDeque<>();
        private final Map<String, String> tokens = new HashMap<>();
        private final Set<ByteString> nonces = new HashSet<>();
        private final Queue<PlayResponse> meanwhile = new ArrayDeque<>();
        private ScriptedCall call;
        private String address;
        private ScriptedRegistration registration;
        private Connection connection;
        private Answering answering;
        private boolean ended;
        private RuntimeException why;
        private boolean stopped;

        Performance(Corpus.Conversation script, Path tokenFile) {
            this.script = script;
            this.tokenFile = tokenFile;
            bot = new ScriptedBot(script.bot(), clock, this::arrive);
            if (bot.token() != null) {
                tokens.put(bot.token(), bot.token());
            }
        }

        void play() {
            begin();
            List<JsonObject> steps = script.steps();
            for (int at = 0; at < steps.size(); at++) {
                for (Map.Entry<String, JsonElement> step : steps.get(at).entrySet()) {
                    try {
                        step(step.getKey(), step.getValue());
                        settle();
                        boolean listened =
                                step.getKey().equals("says") || at + 1 < steps.size() && steps.get(at + 1).has("says");
                        assertTrue(listened || call == null || call.said.isEmpty(), () -> "it says something else: " + call.said);
                    } catch (AssertionError | RuntimeException wrong) {
                        throw new AssertionError("step " + (at + 1) + ", " + step.getKey() + ": " + wrong.getMessage(), wrong);
                    }
                }
            }
            connection.end(null);
            settle();
            assertTrue(meanwhile.isEmpty(), "the bot has not thought since");
            assertTrue(tries.isEmpty(), () -> "it tries at last: " + tries);
        }

        @Override
        public Call play(String token, Events events) {
            ScriptedCall made = new ScriptedCall(address, token, events);
            tries.add(made);
            return made;
        }

        @Override
        public void register(RegisterBotRequest request, long patience, BiConsumer<RegisterBotResponse, Status> registered) {
            tries.add(new ScriptedRegistration(request, registered));
        }

        @Override
        public void close() {}

        private Channel at(String address) {
            this.address = address;
            return this;
        }

        /** Starts the bot's program. */
        private void begin() {
            Options options = bot.options(tokenFile);
            Connection[] made = new Connection[1];
            answering = new Answering(
                    new Caller(bot, options.playOn, clock), (session, request) -> made[0].say(session, request));
            Connection.Surroundings around = new Connection.Surroundings(this::at, clock, answering, () -> 1, null, null, reason -> {
                if (connection == made[0]) {
                    ended = true;
                    why = reason;
                }
            });
            made[0] = new Connection(new Profile(bot, "arena:1", options, Map.of()), around);
            connection = made[0];
            ended = false;
            why = null;
            stopped = false;
            connection.start();
        }

        /** Lets the bot answer all its decisions. */
        private void settle() {
            while (!answering.isEmpty()) {
                try {
                    answering.one();
                } catch (ArenaException wrong) {
                    answering.clear();
                    connection.end(wrong);
                    ended = true;
                    why = wrong;
                }
            }
        }

        private void step(String name, JsonElement value) {
            switch (name) {
                case "registers" -> registers(value.getAsJsonObject());
                case "registered" -> registered(value.getAsJsonObject());
                case "refused" -> registration.registered.accept(null, status(value.getAsJsonObject()));
                case "opens" -> opens(value.getAsJsonObject());
                case "server" -> open().events.message().accept(message(value));
                case "while_thinking" -> value.getAsJsonArray().forEach(each -> meanwhile.add(message(each)));
                case "bytes" -> bytes(value.getAsString());
                case "says" -> says(value.getAsJsonArray());
                case "told" -> {
                    assertEquals(value.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList(), bot.told);
                    bot.told.clear();
                }
                case "breaks" -> {
                    open().events.ended().accept(status(value.getAsJsonObject()));
                    call = null;
                }
                case "comes_back" -> comesBack(value.getAsJsonObject().get("after_ms").getAsLong());
                case "passes" -> clock.pass(
                        TimeUnit.MILLISECONDS.toNanos(value.getAsJsonObject().get("ms").getAsLong()), this::settle, () -> false);
                case "closes" -> {
                    assertTrue(open().closed, "it does not say goodbye");
                    call.events.ended().accept(Status.getDefaultInstance());
                    call = null;
                }
                case "stops" -> stops(value.getAsString());
                case "restarts" -> {
                    connection.end(null);
                    call = null;
                    begin();
                }
                case "ends" -> ends(value.getAsJsonObject());
                default -> throw new AssertionError("there is no such step");
            }
        }

        private <T> T next(Class<T> kind) {
            assertFalse(tries.isEmpty(), () -> "it tries nothing; ended " + ended + ": " + why);
            return assertInstanceOf(kind, tries.poll());
        }

        private ScriptedCall open() {
            assertNotNull(call, "no stream is open");
            return call;
        }

        private void sameToken(String label, String token) {
            tokens.forEach((other, known) -> {
                if (!other.equals(label)) {
                    assertNotEquals(known, token, () -> "the token of " + label + " is that of " + other);
                }
            });
            assertEquals(tokens.getOrDefault(label, token), token, () -> label + " has another token");
            tokens.put(label, token);
        }

        private void registers(JsonObject wanted) {
            registration = next(ScriptedRegistration.class);
            RegisterBotRequest request = registration.request;
            sameToken(wanted.get("token").getAsString(), request.getToken());
            JsonObject rest = wanted.deepCopy();
            rest.remove("token");
            assertEquals(Corpus.message(rest, RegisterBotRequest.newBuilder()), request.toBuilder().clearToken().build());
        }

        private void registered(JsonObject answer) {
            String token = registration.request.getToken();
            if (answer.has("token")) {
                token = answer.get("token").getAsString();
                tokens.put(token, token);
            }
            String name = registration.request.getName();
            registration.registered.accept(RegisterBotResponse.newBuilder().setName(name).setToken(token).build(), null);
        }

        private void opens(JsonObject wanted) {
            call = next(ScriptedCall.class);
            assertEquals(wanted.has("address") ? wanted.get("address").getAsString() : "arena:1", call.address);
            sameToken(wanted.get("token").getAsString(), call.token);
            assertEquals(1, call.said.size(), "what it says at first");
            Hello hello = call.said.get(0).getHello();
            assertTrue(hello.getClient().startsWith("arena-client-java "), hello.getClient());
            Hello.Builder bare = hello.toBuilder().clearClient();
            for (EventEntry.Builder entry : bare.getEventsBuilderList()) {
                check(entry.getNonce());
                entry.clearNonce();
            }
            PlayRequest said = call.said.get(0).toBuilder().setHello(bare).build();
            Hello expected = Corpus.message(wanted.get("hello"), Hello.newBuilder());
            assertEquals(PlayRequest.newBuilder().setHello(expected).build(), said);
            call.said.clear();
        }

        private static JsonElement whole(JsonElement value) {
            if (value.isJsonPrimitive()) {
                return SHARED.get(value.getAsString());
            }
            JsonObject fields = value.getAsJsonObject();
            if (!fields.has("like")) {
                return fields;
            }
            JsonObject made = SHARED.getAsJsonObject(fields.get("like").getAsString()).deepCopy();
            fields.entrySet().stream().filter(each -> !each.getKey().equals("like")).forEach(each -> made.add(each.getKey(), each.getValue()));
            return made;
        }

        private static PlayResponse message(JsonElement value) {
            return Corpus.message(whole(value), PlayResponse.newBuilder());
        }

        /** Delivers the messages for a thinking bot. In a real program, the network's thread does this. */
        private void arrive() {
            while (!meanwhile.isEmpty()) {
                open().events.message().accept(meanwhile.remove());
            }
        }

        private void bytes(String encoded) {
            try {
                open().events.message().accept(PlayResponse.parseFrom(Base64.getDecoder().decode(encoded)));
            } catch (InvalidProtocolBufferException wrong) {
                throw new IllegalArgumentException(wrong);
            }
        }

        /** Checks the bot's random bytes in a message. */
        private void check(ByteString nonce) {
            assertEquals(16, nonce.size(), "bytes of its own chance");
            assertTrue(nonces.add(nonce), "its own chance is another each time");
        }

        private void says(JsonArray wanted) {
            List<PlayRequest> said = new ArrayList<>();
            for (PlayRequest each : open().said) {
                PlayRequest.Builder bare = each.toBuilder();
                for (Ready.Builder ready : bare.getReadyBuilderList()) {
                    check(ready.getNonce());
                    ready.clearNonce();
                }
                said.add(bare.build());
            }
            call.said.clear();
            List<PlayRequest> expected = new ArrayList<>();
            wanted.forEach(each -> expected.add(Corpus.message(each, PlayRequest.newBuilder())));
            assertEquals(expected, said);
        }

        private void comesBack(long wanted) {
            long since = clock.time;
            clock.pass(TimeUnit.DAYS.toNanos(1), this::settle, () -> !tries.isEmpty() || ended);
            assertFalse(tries.isEmpty(), () -> "it does not come back; ended " + ended + ": " + why);
            assertEquals(wanted, Math.round((clock.time - since) / 1e6), "milliseconds after which it comes back");
        }

        private void stops(String signal) {
            if (stopped) {
                connection.leave();
            } else {
                connection.drain(TimeUnit.SECONDS.toNanos(signal.equals("SIGTERM") ? 8 : 30));
            }
            stopped = true;
        }

        private void ends(JsonObject wanted) {
            assertTrue(ended, "it has not ended");
            assertTrue(tries.isEmpty(), () -> "it tries " + tries);
            call = null;
            String error = wanted.get("error").isJsonNull() ? null : wanted.get("error").getAsString();
            ArenaException found = why == null ? null : assertInstanceOf(ArenaException.class, why);
            assertEquals(error, found == null ? null : found.kind().name(), () -> "it ends with " + why);
            assertEquals(wanted.get("status").getAsInt(), found == null ? 0 : found.status());
        }

        private static Status status(JsonObject given) {
            Status.Builder made = Status.newBuilder().setCode(Code.valueOf(given.get("status").getAsString()).getNumber());
            if (given.has("text")) {
                made.setMessage(given.get("text").getAsString());
            }
            if (given.has("pause")) {
                JsonObject pause = given.getAsJsonObject("pause");
                Duration.Builder delay = Duration.newBuilder();
                if (pause.has("seconds")) {
                    delay.setSeconds(pause.get("seconds").getAsLong());
                }
                if (pause.has("nanos")) {
                    delay.setNanos(pause.get("nanos").getAsInt());
                }
                made.addDetails(Any.pack(RetryInfo.newBuilder().setRetryDelay(delay).build()));
            }
            if (given.has("reason")) {
                ErrorInfo info = ErrorInfo.newBuilder().setReason(given.get("reason").getAsString()).setDomain("arena").build();
                made.addDetails(Any.pack(info));
            }
            return made.build();
        }
    }
}
