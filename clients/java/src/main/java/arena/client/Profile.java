package arena.client;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Data that a connection needs from a bot, the options and the environment; BAD_ARGUMENT for invalid data. */
final class Profile {
    private static final String DEFAULT_ADDRESS = "localhost:50051";
    private static final int LONGEST_VERSION = 40;
    private static final Pattern ADDRESS = Pattern.compile("(?:\\[[^\\[\\]\\s]+]|[^:/\\[\\]\\s]+):(\\d{1,5})");
    private static final Pattern TOKEN = Pattern.compile("[!-~]([ -~]*[!-~])?");

    final String name;
    final String owner;
    final String version;
    final String address;
    final String token;
    /** The file of the token; null if the token is given. */
    final Path tokenFile;
    /** The file of receipts; null to store none. */
    final Path receipts;
    final String invitation;
    final boolean tls;
    /** The authorities to trust; null for Java's own. */
    final Path tlsRoots;
    final List<String> games;
    /** Protocol features newer than this client that the bot understands. */
    final List<String> features;
    final int capacity;
    final int matches;
    /** Time without a connection after which to give up, in nanoseconds; negative for never. */
    final long giveUpAfter;
    final boolean casual;
    final boolean challenges;
    /** Lower-case names of the bots whose challenges the bot accepts; empty for all. */
    final Set<String> challengers;
    final List<String> ladders;
    final List<String> events;

    Profile(Bot bot, String address, Options options, Map<String, String> environment) {
        name = first(options.name, bot.name());
        owner = first(options.owner, bot.owner(), environment.getOrDefault("ARENA_OWNER", ""));
        features = bot.features();
        games = options.games.isEmpty() ? bot.games() : options.games;
        capacity = options.capacity > 0 ? options.capacity : bot.capacity();
        if (capacity < 1) {
            throw ArenaException.badArgument("the bot's capacity is %d: it takes 1 or more", capacity);
        }
        invitation = options.invitation;
        matches = options.matches;
        giveUpAfter = options.giveUpAfter == null ? -1 : nanos(options.giveUpAfter);
        casual = options.casual;
        challenges = options.challenges || !options.challengers.isEmpty();
        challengers = options.challengers.stream().map(each -> each.toLowerCase(Locale.ROOT)).collect(Collectors.toSet());
        String server = environment.getOrDefault("ARENA_SERVER", "");
        String startedFor = environment.getOrDefault("ARENA_TOKEN", "");
        ladders = chosen(options.ladders, "ARENA_LADDERS", environment);
        events = chosen(options.events, "ARENA_EVENTS", environment);
        if (startedFor.isEmpty()) {
            this.address = first(address, server, DEFAULT_ADDRESS);
            token = options.token;
            tls = options.tls;
            tlsRoots = options.tlsRoots;
        } else { // the program that started this one set the variable, not the author
            this.address = first(server, address, DEFAULT_ADDRESS);
            token = startedFor;
            tls = false;
            tlsRoots = null;
        }
        if (!token.isEmpty() && !TOKEN.matcher(token).matches()) {
            throw ArenaException.badArgument(
                    "the token is not one line of printable characters: give it as the server did, or none for the one in the token file");
        }
        checkAddress(this.address);
        String stated = first(options.version, bot.version());
        version = stated.isEmpty() ? digest(bot) : stated;
        boolean unprintable = version.codePoints().anyMatch(letter -> Character.isISOControl(letter) || !Character.isDefined(letter));
        if (version.codePointCount(0, version.length()) > LONGEST_VERSION || unprintable) {
            throw ArenaException.badArgument(
                    "the bot's version is '%s': it takes at most %d printable characters", version, LONGEST_VERSION);
        }
        if (!token.isEmpty()) {
            tokenFile = null;
        } else if (options.tokenFile != null) {
            tokenFile = options.tokenFile;
        } else {
            String told = environment.getOrDefault("ARENA_TOKEN_FILE", "");
            tokenFile = told.isEmpty() ? Tokens.defaultFile(this.address, name) : Path.of(told);
        }
        Path beside = startedFor.isEmpty() && options.tokenFile != null ? options.tokenFile : tokenFile;
        receipts = !options.noReceipts && beside != null ? beside.resolveSibling(beside.getFileName() + ".receipts") : null;
    }

    /** The given names, or for null those in a variable. Only the variable counts if a program set ARENA_TOKEN. */
    private static List<String> chosen(List<String> given, String variable, Map<String, String> environment) {
        if (given != null && environment.getOrDefault("ARENA_TOKEN", "").isEmpty()) {
            return given;
        }
        String listed = environment.getOrDefault(variable, "");
        return Stream.of(listed.split(",")).map(String::strip).filter(name -> !name.isEmpty()).toList();
    }

    private static long nanos(Duration time) {
        return time.getSeconds() > Integer.MAX_VALUE ? -1 : time.toNanos();
    }

    private static String first(String... texts) {
        return Stream.of(texts).filter(text -> !text.isEmpty()).findFirst().orElse("");
    }

    private static void checkAddress(String address) {
        if (address.startsWith("dns:")) {
            return;
        }
        Matcher parts = ADDRESS.matcher(address);
        if (parts.matches()) {
            int port = Integer.parseInt(parts.group(1));
            if (port > 0 && port <= 65535) {
                return;
            }
        }
        String host = address.isEmpty() || address.matches(".*[:/].*") ? "HOST" : address;
        throw ArenaException.badArgument(
                "the address '%s' is not of the form HOST:PORT; a server listens on port 50051 unless its operator chose another: %s:50051",
                address, host);
    }

    /** A digest, in twelve hex digits, of the bot's files and its program: the jar, file or folder with its class. */
    private static String digest(Bot bot) {
        List<Path> files = new ArrayList<>();
        Path program = programOf(bot);
        try (Stream<Path> within = Files.walk(program)) {
            within.filter(Files::isRegularFile).sorted().forEach(files::add);
        } catch (IOException wrong) {
            throw ArenaException.unusable(program, wrong);
        }
        files.addAll(bot.files());
        MessageDigest made = sha256();
        for (Path file : files) {
            try {
                made.update(sha256().digest(Files.readAllBytes(file)));
            } catch (IOException wrong) {
                throw ArenaException.unusable(file, wrong);
            }
        }
        return HexFormat.of().formatHex(made.digest()).substring(0, 12);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) { // every Java has it
            throw new AssertionError(impossible);
        }
    }

    private static Path programOf(Bot bot) {
        CodeSource source = bot.getClass().getProtectionDomain().getCodeSource();
        try {
            if (source != null && source.getLocation() != null) {
                return Path.of(source.getLocation().toURI());
            }
        } catch (URISyntaxException | IllegalArgumentException | FileSystemNotFoundException unknown) {
            News.info("the bot's class is in %s", source.getLocation());
        }
        throw ArenaException.badArgument("the program's own file cannot be found: state the bot's version");
    }
}
