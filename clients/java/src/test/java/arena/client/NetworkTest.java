package arena.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.Answer;
import arena.v1.BotServiceGrpc;
import arena.v1.ClosedDecision;
import arena.v1.Decision;
import arena.v1.GameCatalog;
import arena.v1.LogState;
import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import arena.v1.PlayServiceGrpc;
import arena.v1.RegisterBotRequest;
import arena.v1.RegisterBotResponse;
import arena.v1.SixthSenseView;
import arena.v1.Welcome;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the whole client with a small server, over real gRPC. */
@Timeout(60)
class NetworkTest {
    private static final Metadata.Key<String> AUTHORIZATION = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    @TempDir Path folder;
    private Heard heard;
    private SmallServer small;
    private Server server;

    /** Registers every bot and asks it for one decision. */
    private static final class SmallServer extends PlayServiceGrpc.PlayServiceImplBase implements ServerInterceptor {
        final CompletableFuture<String> shown = new CompletableFuture<>();
        /** The bot's messages after the hello. */
        final BlockingQueue<PlayRequest> said = new LinkedBlockingQueue<>();
        final CompletableFuture<StreamObserver<PlayResponse>> stream = new CompletableFuture<>();
        LogState log = LogState.getDefaultInstance();

        final BotServiceGrpc.BotServiceImplBase bots = new BotServiceGrpc.BotServiceImplBase() {
            @Override
            public void registerBot(RegisterBotRequest request, StreamObserver<RegisterBotResponse> out) {
                out.onNext(RegisterBotResponse.newBuilder().setName(request.getName()).setToken(request.getToken()).build());
                out.onCompleted();
            }
        };

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            if (headers.containsKey(AUTHORIZATION)) {
                shown.complete(headers.get(AUTHORIZATION));
            }
            return next.startCall(call, headers);
        }

        @Override
        public StreamObserver<PlayRequest> play(StreamObserver<PlayResponse> out) {
            return new StreamObserver<>() {
                @Override
                public void onNext(PlayRequest request) {
                    if (!request.hasHello()) {
                        said.add(request);
                        return;
                    }
                    Welcome welcome = Welcome.newBuilder()
                            .setBot("bot").addGames(GameCatalog.newBuilder().setName("sixth_sense")).setLog(log).setServer("0.1.0").setBuild("sources")
                            .addAllFeatures(request.getHello().getFeaturesList()).build();
                    out.onNext(PlayResponse.newBuilder().setWelcome(welcome).addDecisions(decision(1)).build());
                    stream.complete(out);
                }

                @Override
                public void onError(Throwable gone) {}

                @Override
                public void onCompleted() {
                    out.onCompleted();
                }
            };
        }
    }

    private static Decision decision(int number) {
        return Decision.newBuilder()
                .setMatchId(1).setDecisionId(number).addLegal(0).setSixthSense(SixthSenseView.newBuilder().setSeats(2)).build();
    }

    /** Computes until its decision is closed, except at the third decision. */
    private static final class Slow extends Endless {
        final BlockingQueue<Integer> asked = new LinkedBlockingQueue<>();

        @Override
        public int decide(arena.client.Decision decision) {
            asked.add(decision.decisionId());
            while (!decision.isClosed() && decision.decisionId() != 3) {
                Thread.onSpinWait();
            }
            return 0;
        }
    }

    /** Computes forever at its first decision. */
    private static class Endless extends Bot {
        final CountDownLatch computes = new CountDownLatch(1);

        Endless() {
            super("bot");
        }

        @Override
        public String version() {
            return "1";
        }

        @Override
        public int decide(arena.client.Decision decision) {
            computes.countDown();
            while (true) {
                Thread.onSpinWait();
            }
        }
    }

    @BeforeEach
    void serve() throws IOException {
        heard = new Heard();
        small = new SmallServer();
        server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                .addService(small).addService(small.bots).intercept(small).build().start();
    }

    @AfterEach
    void serveNoMore() throws InterruptedException {
        server.shutdownNow().awaitTermination();
        heard.close();
    }

    private String address() {
        return "localhost:" + server.getPort();
    }

    private Network network() {
        return new Network(new Profile(new Endless(), address(), new Options().token("t"), Map.of()), address());
    }

    @Test
    void aBotThatIsToldToLeaveLeavesAlthoughItComputes() throws Exception {
        Path file = folder.resolve("tokens").resolve("bot");
        Endless bot = new Endless();
        Run run = new Run(bot, address(), new Options().tokenFile(file));
        assertTrue(bot.computes.await(30, SECONDS), "it is not asked");
        run.leave();
        assertEquals(PlayRequest.newBuilder().setLeave(true).build(), small.said.poll(30, SECONDS));
        run.await();
        assertEquals("Bearer " + Files.readString(file).strip(), small.shown.get(30, SECONDS));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
        assertEquals(false, Files.exists(folder.resolve("tokens").resolve("bot.receipts")), "the server shows no log");
    }

    @Test
    void aSearchSeesThatItsDecisionIsClosedAndTheNextClosedOneIsNotAsked() throws Exception {
        Slow bot = new Slow();
        try (Run run = new Run(bot, address(), new Options().tokenFile(folder.resolve("bot")))) {
            assertEquals(1, bot.asked.poll(30, SECONDS));
            StreamObserver<PlayResponse> stream = small.stream.get(30, SECONDS);
            stream.onNext(PlayResponse.newBuilder().addDecisions(decision(2)).build());
            stream.onNext(PlayResponse.newBuilder().addClosed(closed(2)).addClosed(closed(1)).addDecisions(decision(3)).build());
            assertEquals(3, bot.asked.poll(30, SECONDS));
            assertEquals(List.of(1), small.said.poll(30, SECONDS).getAnswersList().stream().map(Answer::getDecisionId).toList());
            assertEquals(List.of(3), small.said.poll(30, SECONDS).getAnswersList().stream().map(Answer::getDecisionId).toList());
        }
    }

    @Test
    void aBotNamesFeaturesAndLearnsWhichHold() throws Exception {
        CompletableFuture<Welcome> welcomed = new CompletableFuture<>();
        Bot bot = new Endless() {
            @Override
            public List<String> features() {
                return List.of("first", "second");
            }

            @Override
            public void onWelcome(Welcome welcome) {
                welcomed.complete(welcome);
            }
        };
        try (Run run = new Run(bot, address(), new Options().token("t"))) {
            assertEquals(List.of("first", "second"), welcomed.get(30, SECONDS).getFeaturesList());
        }
        assertEquals("info: bot is connected to " + address() + " (Arena 0.1.0, sources)", heard.take().get(0));
    }

    private static ClosedDecision closed(int number) {
        return ClosedDecision.newBuilder().setMatchId(1).setDecisionId(number).build();
    }

    @Test
    void aRunThatIsClosedHasLeftAndIsOver() throws Exception {
        Endless bot = new Endless();
        Run run = new Run(bot, address(), new Options().tokenFile(folder.resolve("bot")));
        try (run) {
            assertTrue(bot.computes.await(30, SECONDS), "it is not asked");
        }
        assertEquals(PlayRequest.newBuilder().setLeave(true).build(), small.said.poll());
        run.await();
        run.close();
    }

    @Test
    void theLogOfAWelcomeIsRecordedBesideTheToken() throws Exception {
        Path file = folder.resolve("bot");
        small.log = ReceiptsTest.shownIn("A log that grows, under a key that names the next").get(0);
        Endless bot = new Endless();
        Run run = new Run(bot, address(), new Options().tokenFile(file));
        assertTrue(bot.computes.await(30, SECONDS), "it is not asked");
        run.leave();
        run.await();
        List<String> lines = Files.readAllLines(folder.resolve("bot.receipts"));
        assertEquals(1, lines.size());
        assertTrue(lines.get(0).startsWith("{\"arena_receipts\":1,\"keys\":["), lines.get(0));
    }

    @Test
    void aRegistrationIsAnsweredOrFails() throws Exception {
        Network network = network();
        RegisterBotRequest request = RegisterBotRequest.newBuilder().setName("bot").setToken("t").build();
        CompletableFuture<String> token = new CompletableFuture<>();
        network.register(request, SECONDS.toNanos(30), (answer, status) -> token.complete(answer.getToken()));
        assertEquals("t", token.get(30, SECONDS));
        network.close();
        CompletableFuture<Integer> code = new CompletableFuture<>();
        network.register(request, SECONDS.toNanos(30), (answer, status) -> code.complete(answer == null ? status.getCode() : -1));
        assertEquals(Status.Code.UNAVAILABLE.value(), code.get(30, SECONDS));
    }
}
