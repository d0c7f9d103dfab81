package arena.client;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The files that all clients share. */
public final class Corpus {
    static final Path FOLDER = Path.of("..", "conformance");

    private Corpus() {}

    /** Reads one file of JSON. */
    public static JsonElement read(String name) {
        try {
            return JsonParser.parseString(Files.readString(FOLDER.resolve(name)));
        } catch (IOException wrong) {
            throw new UncheckedIOException(wrong);
        }
    }

    /** Converts protobuf's JSON mapping to a message. */
    @SuppressWarnings("unchecked")
    public static <M extends Message> M message(JsonElement json, M.Builder builder) {
        try {
            JsonFormat.parser().merge(new Gson().toJson(json), builder);
        } catch (InvalidProtocolBufferException wrong) {
            throw new IllegalArgumentException(wrong);
        }
        return (M) builder.build();
    }

    /** All conversations, each with its topic, which is the name of its file. */
    static List<Conversation> conversations() throws IOException {
        List<Conversation> made = new ArrayList<>();
        try (Stream<Path> files = Files.list(FOLDER.resolve("conversations"))) {
            for (Path file : files.sorted().toList()) {
                for (JsonElement each : JsonParser.parseString(Files.readString(file)).getAsJsonArray()) {
                    JsonObject script = each.getAsJsonObject();
                    JsonObject bot = script.has("bot") ? script.getAsJsonObject("bot") : new JsonObject();
                    List<JsonObject> steps = script.getAsJsonArray("steps").asList().stream().map(JsonElement::getAsJsonObject).toList();
                    String topic = file.getFileName().toString().replace(".json", "");
                    made.add(new Conversation(topic + ": " + script.get("title").getAsString(), bot, steps));
                }
            }
        }
        return made;
    }

    record Conversation(String title, JsonObject bot, List<JsonObject> steps) {}
}
