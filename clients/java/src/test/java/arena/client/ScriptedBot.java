package arena.client;

import arena.v1.MatchReport;
import arena.v1.MatchStart;
import arena.v1.Notice;
import arena.v1.RoundReport;
import arena.v1.Welcome;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.Any;
import java.time.Duration;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;

/** The bot of a conversation, as described in clients/conformance/README.md. */
final class ScriptedBot extends Bot {
    private static final Set<String> WORDS = Set.of(
            "games", "capacity", "version", "token", "owner", "invitation", "matches", "challenges", "casual", "on_error",
            "give_up_after", "thinks_ms", "batch", "gives", "ladders", "events");

    /** The calls of the bot's code. */
    final List<String> told = new ArrayList<>();
    private final JsonObject spec;
    private final VirtualClock clock;
    private final Runnable meanwhile;
    private Welcome welcome = Welcome.getDefaultInstance();

    /** `meanwhile` delivers messages while the bot thinks. */
    ScriptedBot(JsonObject spec, VirtualClock clock, Runnable meanwhile) {
        super("bot", spec.has("games") ? texts(spec.get("games")).toArray(String[]::new) : new String[0]);
        if (!WORDS.containsAll(spec.keySet())) {
            throw new IllegalArgumentException("there is no such word: " + spec.keySet());
        }
        this.spec = spec;
        this.clock = clock;
        this.meanwhile = meanwhile;
    }

    private static List<String> texts(JsonElement list) {
        return list.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList();
    }

    /** The token given to the bot; null if it has a token file. */
    String token() {
        if (!spec.has("token")) {
            return "given";
        }
        return spec.get("token").isJsonNull() ? null : spec.get("token").getAsString();
    }

    Options options(Path tokenFile) {
        Options options = new Options().tokenFile(tokenFile).owner(text("owner", "")).invitation(text("invitation", ""));
        options.matches(number("matches", 0));
        if (token() != null) {
            options.token(token());
        }
        if (spec.has("casual") && spec.get("casual").getAsBoolean()) {
            options.casual();
        }
        if (text("on_error", "raise").equals("continue")) {
            options.playOn();
        }
        if (spec.has("give_up_after")) {
            options.giveUpAfter(Duration.ofMillis(Math.round(1000 * spec.get("give_up_after").getAsDouble())));
        }
        JsonElement challenges = spec.get("challenges");
        if (challenges instanceof JsonArray names) {
            options.challengers(texts(names));
        } else if (challenges != null && challenges.getAsBoolean()) {
            options.challenges();
        }
        if (spec.has("ladders")) {
            options.ladders(texts(spec.get("ladders")));
        }
        if (spec.has("events")) {
            options.events(texts(spec.get("events")));
        }
        return options;
    }

    private String text(String key, String otherwise) {
        return spec.has(key) ? spec.get(key).getAsString() : otherwise;
    }

    private int number(String key, int otherwise) {
        return spec.has(key) ? spec.get(key).getAsInt() : otherwise;
    }

    @Override
    public int capacity() {
        return number("capacity", 8);
    }

    @Override
    public String version() {
        return text("version", "1");
    }

    private void think(List<Decision> decisions) {
        decisions.forEach(each -> told.add(
                "decide " + numbers(each) + " " + each.softMs() + "+" + each.bankMs() + (each.view() instanceof Any other
                        ? " " + each.game().name() + " " + Base64.getEncoder().encodeToString(other.getValue().toByteArray()) : "")));
        clock.time += number("thinks_ms", 0) * 1_000_000L;
        meanwhile.run();
        decisions.stream().filter(Decision::isClosed).forEach(each -> told.add("closed " + numbers(each)));
    }

    private static String numbers(Decision decision) {
        return Long.toUnsignedString(decision.matchId()) + "/" + Integer.toUnsignedString(decision.decisionId());
    }

    @Override
    public int decide(Decision decision) {
        think(List.of(decision));
        return decision.legal().get(0);
    }

    @Override
    public Iterable<Integer> decideMany(List<Decision> decisions) {
        boolean batch = spec.has("batch") && spec.get("batch").getAsBoolean();
        if (!batch && !spec.has("gives")) {
            return super.decideMany(decisions);
        }
        think(decisions);
        List<Integer> given = new ArrayList<>();
        if (spec.has("gives")) {
            for (JsonElement each : spec.getAsJsonArray("gives")) {
                boolean number = each.isJsonPrimitive() && each.getAsJsonPrimitive().isNumber();
                given.add(number ? (Integer) each.getAsInt() : null); // a bot in Java can only give numbers
            }
        } else {
            decisions.forEach(each -> given.add(each.legal().get(0)));
        }
        return given;
    }

    @Override
    public void onWelcome(Welcome greeting) {
        welcome = greeting;
    }

    @Override
    public void onMatchStart(MatchStart start) {
        String limit = Integer.toUnsignedString(Arena.conductOf(welcome, start).getSoftLimitMs());
        String of = start.getLadder().isEmpty() ? "" : " " + start.getLadder() + " " + limit;
        told.add("start " + Long.toUnsignedString(start.getMatchId()) + of);
    }

    @Override
    public void onRound(RoundReport report) {
        told.add("round " + Long.toUnsignedString(report.getMatchId()));
    }

    @Override
    public void onMatchEnd(MatchReport report) {
        super.onMatchEnd(report);
        told.add("report " + Long.toUnsignedString(report.getMatchId()));
    }

    @Override
    public void onNotice(Notice notice) {
        super.onNotice(notice);
        String match = notice.hasMatchId() ? Long.toUnsignedString(notice.getMatchId()) : "-";
        told.add("notice " + notice.getKindValue() + " " + match);
    }
}
