// A bot and a spectator on grpc-java with Netty: plays one match, looks it up, and provokes as many statuses as
// possible.
//
// java -cp CLASSES Client ADDRESS NAME PROTOS [ROOTS]; prints its observations as one JSON object.

import arena.v1.Answer;
import arena.v1.BotServiceGrpc;
import arena.v1.GetReplayRequest;
import arena.v1.Hello;
import arena.v1.ListBotsRequest;
import arena.v1.ListBotsResponse;
import arena.v1.ListMatchesRequest;
import arena.v1.MatchReport;
import arena.v1.MatchServiceGrpc;
import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import arena.v1.PlayServiceGrpc;
import arena.v1.Ready;
import arena.v1.RegisterBotRequest;
import arena.v1.RegisterBotResponse;
import com.google.gson.Gson;
import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;

public class Client {
    static ManagedChannel channel;

    static <T extends AbstractStub<T>> T patient(T stub) {
        return stub.withDeadlineAfter(60, TimeUnit.SECONDS);
    }

    static BotServiceGrpc.BotServiceBlockingStub bots() {
        return patient(BotServiceGrpc.newBlockingStub(channel));
    }

    static MatchServiceGrpc.MatchServiceBlockingStub matches() {
        return patient(MatchServiceGrpc.newBlockingStub(channel));
    }

    static int check(String service) {
        var request = HealthCheckRequest.newBuilder().setService(service).build();
        return patient(HealthGrpc.newBlockingStub(channel)).check(request).getStatusValue();
    }

    static RegisterBotResponse register(String name, BotServiceGrpc.BotServiceBlockingStub stub) {
        return stub.registerBot(RegisterBotRequest.newBuilder().setName(name).build());
    }

    static List<String> refusal(Runnable call) {
        try {
            call.run();
            return null;
        } catch (StatusRuntimeException error) {
            var text = error.getStatus().getDescription();
            return List.of(error.getStatus().getCode().name(), text == null ? "" : text);
        }
    }

    /** Opens a stream for playing; `heard` gets the server's messages, then an error or "end". */
    static StreamObserver<PlayRequest> play(String token, LinkedBlockingQueue<Object> heard) {
        var metadata = new Metadata();
        if (token != null) {
            metadata.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
        }
        var stub = patient(PlayServiceGrpc.newStub(channel)).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
        return stub.play(new StreamObserver<PlayResponse>() {
            public void onNext(PlayResponse message) { heard.add(message); }
            public void onError(Throwable error) { heard.add(error); }
            public void onCompleted() { heard.add("end"); }
        });
    }

    static MatchReport playMatch(String token, int[] answered) throws Exception {
        var heard = new LinkedBlockingQueue<Object>();
        var mouth = play(token, heard);
        var hello = Hello.newBuilder().addGames("nullern").setCapacity(1).setClient("grpc-java");
        mouth.onNext(PlayRequest.newBuilder().setHello(hello).build());
        while (true) {
            var next = heard.take();
            if (!(next instanceof PlayResponse said)) {
                throw new IllegalStateException("the stream ended too soon: " + next);
            }
            if (said.getReportsCount() > 0) {
                mouth.onCompleted();
                while (heard.take() instanceof PlayResponse) { }
                return said.getReports(0);
            }
            var reply = PlayRequest.newBuilder();
            for (var each : said.getInvitationsList()) {
                reply.addReady(Ready.newBuilder().setInvitationId(each.getInvitationId()).setNonce(ByteString.copyFrom(new byte[16])));
            }
            for (var due : said.getDecisionsList()) {
                var answer = Answer.newBuilder().setMatchId(due.getMatchId()).setDecisionId(due.getDecisionId());
                reply.addAnswers(answer.setAction(due.getLegal(0)));
                answered[0]++;
            }
            if (said.hasHeartbeat()) {
                reply.setHeartbeat(said.getHeartbeat());
            }
            if (reply.build().getSerializedSize() > 0) {
                mouth.onNext(reply.build());
            }
        }
    }

    static List<String> knock(String token) throws Exception {
        var heard = new LinkedBlockingQueue<Object>();
        play(token, heard);
        var end = heard.take();
        return refusal(() -> { throw (StatusRuntimeException) end; });
    }

    public static void main(String[] arguments) throws Exception {
        var name = arguments[1];
        var builder = NettyChannelBuilder.forTarget(arguments[0]);
        if (arguments.length > 3) {
            builder.sslContext(GrpcSslContexts.forClient().trustManager(new File(arguments[3])).build()).overrideAuthority("localhost");
        } else {
            builder.usePlaintext();
        }
        channel = builder.build();
        var large = "x".repeat(2 << 20);
        var answered = new int[1];
        var report = playMatch(register(name, bots()).getToken(), answered);

        var listed = new ArrayList<List<Object>>();
        for (var match : matches().listMatches(ListMatchesRequest.newBuilder().setBot(name).build()).getMatchesList()) {
            listed.add(List.of(match.getMatchId(), match.getSeatsList().stream().map(seat -> seat.getScore()).toList()));
        }
        var replay = new ByteArrayOutputStream();
        matches().getReplay(GetReplayRequest.newBuilder().setMatchId(report.getMatchId()).build())
            .forEachRemaining(piece -> replay.writeBytes(piece.getChunk().toByteArray()));
        var text = new String(new GZIPInputStream(new ByteArrayInputStream(replay.toByteArray())).readAllBytes());
        var known = bots().withCompression("gzip").listBots(ListBotsRequest.getDefaultInstance());
        var cheat = MethodDescriptor.<ListBotsRequest, ListBotsResponse>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName("arena.v1.PlayService/Cheat")
            .setRequestMarshaller(ProtoUtils.marshaller(ListBotsRequest.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(ListBotsResponse.getDefaultInstance()))
            .build();
        var hasty = HealthGrpc.newBlockingStub(channel).withDeadlineAfter(200, TimeUnit.MILLISECONDS);

        var saw = new LinkedHashMap<String, Object>();
        saw.put("match", report.getMatchId());
        saw.put("answered", answered[0]);
        saw.put("interrupted", report.getInterrupted());
        saw.put("scores", report.getScoresList());
        saw.put("listed", listed);
        saw.put("replay", text.lines().count());
        saw.put("health", check("arena.v1.PlayService"));
        saw.put("at_once", IntStream.range(0, 30).parallel().map(number -> check("")).sum());
        saw.put("zipped", known.getBotsList().stream().anyMatch(bot -> bot.getName().equals(name)));
        saw.put("zipped_refusal", refusal(() -> register(name + "x".repeat(3000), bots().withCompression("gzip"))));
        saw.put("wrong_token", knock("wrong"));
        saw.put("no_token", knock(null));
        saw.put("too_big", refusal(() -> register(large, bots())));
        saw.put("too_big_zipped", refusal(() -> register(large, bots().withCompression("gzip"))));
        saw.put("too_late", refusal(() -> hasty.watch(HealthCheckRequest.getDefaultInstance()).forEachRemaining(status -> { })));
        saw.put("odd_text", refusal(() -> check("100 % café\n")));
        saw.put("unknown", refusal(() -> ClientCalls.blockingUnaryCall(channel, cheat, CallOptions.DEFAULT, ListBotsRequest.getDefaultInstance())));
        saw.put("afterwards", check(""));
        System.out.println(new Gson().toJson(saw));
        channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        System.exit(0);
    }
}
