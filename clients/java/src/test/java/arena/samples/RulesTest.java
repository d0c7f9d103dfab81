package arena.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.client.Catalog;
import arena.client.Corpus;
import arena.client.Decision;
import arena.client.Nullern;
import arena.client.SixthSense;
import arena.v1.GameCatalog;
import arena.v1.NullernView;
import arena.v1.SixthSenseView;
import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the readers of the games and the sample's rules with the vectors that all clients share. */
class RulesTest {
    private static final Gson WITH_NULLS = new Gson().newBuilder().serializeNulls().create();

    private static Integer orNull(int number) {
        return number == Catalog.NONE ? null : (Integer) number;
    }

    /** The summary of a view, in the form that the vectors use. */
    private static JsonObject reads(Decision decision) {
        Map<String, Object> found = new HashMap<>();
        if (decision.view() instanceof NullernView view) {
            Nullern table = Nullern.read(decision.game(), view);
            found.put("trick", table.trick());
            found.put("toCome", table.toCome());
            found.put("taker", orNull(table.taker()));
            found.put("wanted", IntStream.range(0, view.getSeats()).map(table::wanted).boxed().toList());
            found.put("unseen", table.unseen().stream().sorted().toList());
        } else {
            SixthSense table = SixthSense.read(decision.game(), (SixthSenseView) decision.view());
            List<List<Integer>> lacks = new ArrayList<>();
            table.lacks().forEach((seat, colours) -> colours.forEach(colour -> lacks.add(List.of(seat, colour))));
            found.put("trump", orNull(table.trump()));
            found.put("trick", table.trick().stream().map(laid -> List.of(laid.seat(), laid.place(), laid.colour(), laid.value())).toList());
            found.put("toCome", table.toCome());
            found.put("taker", orNull(table.taker()));
            found.put("lacks", lacks);
            found.put("unseen", table.unseen());
        }
        return JsonParser.parseString(WITH_NULLS.toJson(found)).getAsJsonObject();
    }

    @Test
    void viewsAreReadAndRulesPlayAsInPython() {
        Map<String, Catalog> games = new HashMap<>();
        for (JsonElement each : Corpus.read("vectors/catalogues.json").getAsJsonArray()) {
            Catalog game = Catalog.of(Corpus.message(each, GameCatalog.newBuilder()));
            games.put(game.name(), game);
        }
        JsonArray asked = Corpus.read("vectors/decisions.json").getAsJsonArray();
        assertTrue(asked.size() >= 100, "there are few decisions");
        Rules rules = new Rules();
        for (JsonElement each : asked) {
            JsonObject one = each.getAsJsonObject();
            Decision decision = Decision.of(Corpus.message(one.get("decision"), arena.v1.Decision.newBuilder()), games);
            assertEquals(one.get("reads"), reads(decision), () -> one.get("decision").toString());
            assertEquals(one.get("rules").getAsInt(), rules.decide(decision), () -> one.get("decision").toString());
        }
    }

    @Test
    void points() {
        int[][] plain = {{6, -2}, {2, -2}, {4, 4}, {0, -4}};
        for (int[] each : plain) {
            assertEquals(each[1], SixthSense.points(List.of(4), each[0], false));
        }
        int[][] two = {{7, -1}, {8, -1}, {0, -6}, {12, -3}, {6, 6}, {9, 9}};
        for (int[] each : two) {
            assertEquals(each[1], SixthSense.points(List.of(6, 9), each[0], false));
        }
        int[][] novice = {{4, 6}, {5, 4}, {2, 3}, {7, 2}, {0, 1}, {10, 0}};
        for (int[] each : novice) {
            assertEquals(each[1], SixthSense.points(List.of(4), each[0], true));
        }
        int[][] nullern = {{0, 0, 20}, {3, 3, 13}, {0, 2, -3}, {4, 0, -5}};
        for (int[] each : nullern) {
            assertEquals(each[2], Nullern.points(each[0], each[1]));
        }
    }
}
