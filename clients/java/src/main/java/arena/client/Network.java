package arena.client;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import arena.v1.BotServiceGrpc;
import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import arena.v1.PlayServiceGrpc;
import arena.v1.RegisterBotRequest;
import arena.v1.RegisterBotResponse;
import com.google.rpc.Status;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.function.BiConsumer;

/** Network access to a server through grpc-java, with one connection per try. */
final class Network implements Channel {
    private static final Metadata.Key<String> AUTHORIZATION = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final ManagedChannel line;

    /** Opens a channel to an address, which connects at the first call; BAD_ARGUMENT if a certificate cannot be read. */
    Network(Profile profile, String address) {
        line = Grpc.newChannelBuilder(address, trust(profile))
                .keepAliveTime(20, SECONDS)
                .keepAliveTimeout(10, SECONDS)
                .disableServiceConfigLookUp()
                .disableRetry()
                .build();
    }

    private static ChannelCredentials trust(Profile profile) {
        if (!profile.tls) {
            return InsecureChannelCredentials.create();
        }
        TlsChannelCredentials.Builder trust = TlsChannelCredentials.newBuilder();
        if (profile.tlsRoots != null) {
            Probe.rootsOf(profile.tlsRoots); // throws an error that describes the fault, if any
            try {
                trust.trustManager(profile.tlsRoots.toFile());
            } catch (IOException wrong) {
                throw ArenaException.unusable(profile.tlsRoots, wrong);
            }
        }
        return trust.build();
    }

    @Override
    public void close() {
        line.shutdownNow();
    }

    @Override
    public void register(RegisterBotRequest request, long patience, BiConsumer<RegisterBotResponse, Status> registered) {
        BotServiceGrpc.newStub(line).withDeadlineAfter(patience, NANOSECONDS).registerBot(request, new StreamObserver<>() {
            private RegisterBotResponse answer;

            @Override
            public void onNext(RegisterBotResponse message) {
                answer = message;
            }

            @Override
            public void onError(Throwable cause) {
                registered.accept(null, statusOf(io.grpc.Status.fromThrowable(cause), io.grpc.Status.trailersFromThrowable(cause)));
            }

            @Override
            public void onCompleted() {
                registered.accept(answer, null);
            }
        });
    }

    private static Status statusOf(io.grpc.Status status, Metadata trailers) {
        try {
            return StatusProto.fromStatusAndTrailers(status, trailers);
        } catch (IllegalArgumentException contradiction) { // an Arena server does not send such details
            return StatusProto.fromStatusAndTrailers(status, null);
        }
    }

    @Override
    public Call play(String token, Events events) {
        ClientCall<PlayRequest, PlayResponse> call = line.newCall(PlayServiceGrpc.getPlayMethod(), CallOptions.DEFAULT);
        Metadata headers = new Metadata();
        headers.put(AUTHORIZATION, "Bearer " + token);
        call.start(new ClientCall.Listener<>() {
            @Override
            public void onMessage(PlayResponse message) {
                events.message().accept(message);
                call.request(1);
            }

            @Override
            public void onClose(io.grpc.Status status, Metadata trailers) {
                events.ended().accept(statusOf(status, trailers));
            }
        }, headers);
        call.request(1);
        return new Stream(call);
    }

    /** One gRPC stream. Only one thread at a time uses it, and none after its end. */
    private static final class Stream implements Call {
        private final ClientCall<PlayRequest, PlayResponse> call;
        private boolean ended;

        Stream(ClientCall<PlayRequest, PlayResponse> call) {
            this.call = call;
        }

        @Override
        public void write(PlayRequest request) {
            if (!ended) {
                call.sendMessage(request); // queues the message if the network is busy
            }
        }

        @Override
        public void end() {
            if (!ended) {
                ended = true;
                call.halfClose();
            }
        }

        @Override
        public void cancel() {
            ended = true;
            call.cancel("the bot hangs up", null);
        }
    }
}
