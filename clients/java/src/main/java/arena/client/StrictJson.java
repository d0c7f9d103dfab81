package arena.client;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import com.google.gson.JsonSyntaxException;
import com.google.gson.Strictness;
import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.math.BigInteger;

/** Standard JSON for receipts; Gson by itself is more lenient. */
final class StrictJson {
    private static final Gson GSON = new GsonBuilder().setStrictness(Strictness.STRICT).disableHtmlEscaping().create();

    private StrictJson() {}

    /** An unsigned 64-bit number of the protocol, stored in a Java long. */
    static final class Unsigned extends TypeAdapter<Long> {
        @Override
        public void write(JsonWriter out, Long value) throws IOException {
            out.value(value == null ? null : new BigInteger(Long.toUnsignedString(value)));
        }

        @Override
        public Long read(JsonReader in) throws IOException {
            String text = in.nextString();
            try {
                return Long.parseUnsignedLong(text);
            } catch (NumberFormatException wrong) {
                throw new JsonSyntaxException("'" + text + "' is no number from 0 on", wrong);
            }
        }
    }

    /** Reads an object; JsonParseException if the text is malformed or not an object. */
    static <T> T read(String text, Class<T> type) {
        T made = GSON.fromJson(text, type);
        if (made == null) {
            throw new JsonParseException("it is no JSON object");
        }
        return made;
    }

    /** Writes an object in one line, without null fields. */
    static String write(Object value) {
        return GSON.toJson(value);
    }
}
