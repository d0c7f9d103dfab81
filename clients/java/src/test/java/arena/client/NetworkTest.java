package arena.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.BotServiceGrpc;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The whole client and a small server, with gRPC between them. */
@Timeout(60)
class NetworkTest {
    private static final Metadata.Key<String> AUTHORIZATION = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    @TempDir Path folder;
    private Heard heard;
    private SmallServer small;
    private Server server;

    /** Registers every bot and asks one decision. */
    private static final class SmallServer extends PlayServiceGrpc.PlayServiceImplBase implements ServerInterceptor {
        final CompletableFuture<String> shown = new CompletableFuture<>();
        final CompletableFuture<PlayRequest> left = new CompletableFuture<>();
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
                        left.complete(request);
                        return;
                    }
                    Welcome welcome = Welcome.newBuilder()
                            .setBot("bot").addGames(GameCatalog.newBuilder().setName("sixth_sense")).setLog(log).build();
                    Decision decision = Decision.newBuilder()
                            .setMatchId(1).setDecisionId(1).addLegal(0).setSixthSense(SixthSenseView.newBuilder().setSeats(2)).build();
                    out.onNext(PlayResponse.newBuilder().setWelcome(welcome).addDecisions(decision).build());
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

    /** Computes for ever once it is asked. */
    private static final class Endless extends Bot {
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
        return new Network(new Profile(new Endless(), address(), new Options().token("t"), Map.of()));
    }

    @Test
    void aBotThatIsToldToLeaveLeavesAlthoughItComputes() throws Exception {
        Path file = folder.resolve("tokens").resolve("bot");
        Endless bot = new Endless();
        Run run = new Run(bot, address(), new Options().tokenFile(file));
        assertTrue(bot.computes.await(30, SECONDS), "it is not asked");
        run.leave();
        assertEquals(PlayRequest.newBuilder().setLeave(true).build(), small.left.get(30, SECONDS));
        run.await();
        assertEquals("Bearer " + Files.readString(file).strip(), small.shown.get(30, SECONDS));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
        assertEquals(false, Files.exists(folder.resolve("tokens").resolve("bot.receipts")), "the server shows no log");
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
