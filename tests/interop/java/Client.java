// A bot and an onlooker on grpc-java with Netty: plays one match, looks it up, and provokes every status it can.
//
// java -cp JARS Client.java DESCRIPTORS ADDRESS NAME PROTOS [ROOTS]; prints what it saw as one object of JSON. Messages are
// made from the file of descriptors at run time: nothing here is generated.

import com.google.gson.Gson;
import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;

public class Client {
    static final Map<String, Descriptor> types = new HashMap<>();
    static Channel channel;

    static DynamicMessage.Builder message(String type) {
        return DynamicMessage.newBuilder(types.get(type));
    }

    static FieldDescriptor field(Descriptor type, String name) {
        return type.findFieldByName(name);
    }

    static Object get(DynamicMessage from, String name) {
        return from.getField(field(from.getDescriptorForType(), name));
    }

    @SuppressWarnings("unchecked")
    static List<DynamicMessage> all(DynamicMessage from, String name) {
        return (List<DynamicMessage>) get(from, name);
    }

    static DynamicMessage.Builder set(DynamicMessage.Builder to, String name, Object value) {
        return to.setField(field(to.getDescriptorForType(), name), value);
    }

    static void add(DynamicMessage.Builder to, String name, Object value) {
        to.addRepeatedField(field(to.getDescriptorForType(), name), value);
    }

    static MethodDescriptor<DynamicMessage, DynamicMessage> method(MethodType type, String path, String in, String out) {
        return MethodDescriptor.<DynamicMessage, DynamicMessage>newBuilder()
            .setType(type)
            .setFullMethodName(path)
            .setRequestMarshaller(ProtoUtils.marshaller(message(in).build()))
            .setResponseMarshaller(ProtoUtils.marshaller(message(out).build()))
            .build();
    }

    static CallOptions patience() {
        return CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS);
    }

    static DynamicMessage unary(String service, String name, DynamicMessage request, String out, CallOptions options) {
        var called = method(MethodType.UNARY, service + "/" + name, request.getDescriptorForType().getFullName(), out);
        return ClientCalls.blockingUnaryCall(channel, called, options, request);
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

    static Channel bearing(String token) {
        var metadata = new Metadata();
        if (token != null) {
            metadata.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
        }
        return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
    }

    /** What comes on a stream to play on: messages, then an error or the stream's number of messages. */
    static StreamObserver<DynamicMessage> play(String token, LinkedBlockingQueue<Object> heard) {
        var play = method(MethodType.BIDI_STREAMING, "arena.v1.PlayService/Play", "arena.v1.PlayRequest", "arena.v1.PlayResponse");
        return ClientCalls.asyncBidiStreamingCall(bearing(token).newCall(play, patience()), new StreamObserver<>() {
            public void onNext(DynamicMessage message) { heard.add(message); }
            public void onError(Throwable error) { heard.add(error); }
            public void onCompleted() { heard.add("end"); }
        });
    }

    static DynamicMessage playMatch(String token, int[] answered) throws Exception {
        var heard = new LinkedBlockingQueue<Object>();
        var mouth = play(token, heard);
        var hello = set(message("arena.v1.Hello"), "capacity", 1);
        add(hello, "games", "nullern");
        mouth.onNext(set(message("arena.v1.PlayRequest"), "hello", hello.build()).build());
        while (true) {
            var next = heard.take();
            if (!(next instanceof DynamicMessage said)) {
                throw new IllegalStateException("the stream ended too soon: " + next);
            }
            if (!all(said, "reports").isEmpty()) {
                mouth.onCompleted();
                while (heard.take() instanceof DynamicMessage) { }
                return all(said, "reports").get(0);
            }
            var reply = message("arena.v1.PlayRequest");
            for (var each : all(said, "invitations")) {
                var ready = set(message("arena.v1.Ready"), "invitation_id", get(each, "invitation_id"));
                add(reply, "ready", set(ready, "nonce", ByteString.copyFrom(new byte[16])).build());
            }
            for (var each : all(said, "decisions")) {
                var answer = set(message("arena.v1.Answer"), "match_id", get(each, "match_id"));
                set(answer, "decision_id", get(each, "decision_id"));
                add(reply, "answers", set(answer, "action", ((List<?>) get(each, "legal")).get(0)).build());
                answered[0]++;
            }
            if (said.hasField(field(said.getDescriptorForType(), "heartbeat"))) {
                set(reply, "heartbeat", get(said, "heartbeat"));
            }
            if (!reply.getAllFields().isEmpty()) {
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

    static DynamicMessage register(String name, CallOptions options) {
        var request = set(message("arena.v1.RegisterBotRequest"), "name", name).build();
        return unary("arena.v1.BotService", "RegisterBot", request, "arena.v1.RegisterBotResponse", options);
    }

    static int check(String service) {
        var request = set(message("grpc.health.v1.HealthCheckRequest"), "service", service).build();
        var answer = unary("grpc.health.v1.Health", "Check", request, "grpc.health.v1.HealthCheckResponse", patience());
        return ((com.google.protobuf.Descriptors.EnumValueDescriptor) get(answer, "status")).getNumber();
    }

    static void load(String path) throws Exception {
        var files = new HashMap<String, FileDescriptor>();
        for (FileDescriptorProto file : FileDescriptorSet.parseFrom(Files.readAllBytes(Path.of(path))).getFileList()) {
            var needed = file.getDependencyList().stream().map(files::get).toArray(FileDescriptor[]::new);
            var built = FileDescriptor.buildFrom(file, needed);
            files.put(file.getName(), built);
            built.getMessageTypes().forEach(type -> types.put(type.getFullName(), type));
        }
    }

    public static void main(String[] arguments) throws Exception {
        load(arguments[0]);
        var name = arguments[2];
        var builder = NettyChannelBuilder.forTarget(arguments[1]);
        if (arguments.length > 4) {
            builder.sslContext(GrpcSslContexts.forClient().trustManager(new File(arguments[4])).build()).overrideAuthority("localhost");
        } else {
            builder.usePlaintext();
        }
        var line = builder.build();
        channel = line;
        var zipped = patience().withCompression("gzip");
        var large = "x".repeat(2 << 20);
        var answered = new int[1];
        var token = (String) get(register(name, patience()), "token");
        var report = playMatch(token, answered);

        var listed = new ArrayList<List<Object>>();
        var asked = set(message("arena.v1.ListMatchesRequest"), "bot", name).build();
        var matches = unary("arena.v1.MatchService", "ListMatches", asked, "arena.v1.ListMatchesResponse", patience());
        for (var match : all(matches, "matches")) {
            listed.add(List.of(get(match, "match_id"), all(match, "seats").stream().map(seat -> get(seat, "score")).toList()));
        }
        var replay = new ByteArrayOutputStream();
        var wanted = set(message("arena.v1.GetReplayRequest"), "match_id", get(report, "match_id")).build();
        var pieces = method(MethodType.SERVER_STREAMING, "arena.v1.MatchService/GetReplay", "arena.v1.GetReplayRequest", "arena.v1.GetReplayResponse");
        ClientCalls.blockingServerStreamingCall(channel, pieces, patience(), wanted)
            .forEachRemaining(piece -> replay.writeBytes(((ByteString) get(piece, "chunk")).toByteArray()));
        var text = new String(new GZIPInputStream(new ByteArrayInputStream(replay.toByteArray())).readAllBytes());
        var bots = unary("arena.v1.BotService", "ListBots", message("arena.v1.ListBotsRequest").build(), "arena.v1.ListBotsResponse", zipped);
        var watch = method(MethodType.SERVER_STREAMING, "grpc.health.v1.Health/Watch", "grpc.health.v1.HealthCheckRequest", "grpc.health.v1.HealthCheckResponse");
        var nothing = message("arena.v1.ListBotsRequest").build();

        var saw = new LinkedHashMap<String, Object>();
        saw.put("match", get(report, "match_id"));
        saw.put("answered", answered[0]);
        saw.put("interrupted", get(report, "interrupted"));
        saw.put("scores", get(report, "scores"));
        saw.put("listed", listed);
        saw.put("replay", text.lines().count());
        saw.put("health", check("arena.v1.PlayService"));
        saw.put("at_once", IntStream.range(0, 30).parallel().map(number -> check("")).sum());
        saw.put("zipped", all(bots, "bots").stream().anyMatch(bot -> get(bot, "name").equals(name)));
        saw.put("zipped_refusal", refusal(() -> register(name + "x".repeat(3000), zipped)));
        saw.put("wrong_token", knock("wrong"));
        saw.put("no_token", knock(null));
        saw.put("too_big", refusal(() -> register(large, patience())));
        saw.put("too_big_zipped", refusal(() -> register(large, patience().withCompression("gzip"))));
        saw.put("too_late", refusal(() -> ClientCalls.blockingServerStreamingCall(
            channel, watch, CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS), message("grpc.health.v1.HealthCheckRequest").build()
        ).forEachRemaining(status -> { })));
        saw.put("odd_text", refusal(() -> check("100 % café\n")));
        saw.put("unknown", refusal(() -> unary("arena.v1.PlayService", "Cheat", nothing, "arena.v1.ListBotsResponse", patience())));
        saw.put("afterwards", check(""));
        System.out.println(new Gson().toJson(saw));
        line.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        System.exit(0);
    }
}
