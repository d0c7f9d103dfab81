package arena.client;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

/** The command line of a program with one bot. */
final class Command {
    /** The logger, referenced here because Java would otherwise discard it and its level. */
    private static final Logger LOG = Logger.getLogger("arena.client");

    private static final String FORMAT = "java.util.logging.SimpleFormatter.format";

    private static final String HELP = """
            usage: java … %s [options]

            %s

              --server HOST:PORT    default: ARENA_SERVER in the environment, or localhost:50051
              --name NAME           the bot's name on the server
              --owner WHO           who owns it; bots of one owner meet in challenges only (default: the bot's own, ARENA_OWNER, or its name)
              --game NAME           play this game only; repeatable (default: the bot's own games)
              --ladder NAME         play on this ladder only; repeatable (default: ARENA_LADDERS, or the games' default ladders)
              --event NAME          enter this event; repeatable (default: ARENA_EVENTS)
              --bot-version WHICH   each version has a rating of its own (default: a digest of the program)
              --capacity N          how many matches to play at once
              --matches N           stop after N matches
              --token TOKEN         the bot's token (default: the one in the token file)
              --token-file FILE     where the token is kept (default: ARENA_TOKEN_FILE, or below ~/.arena/tokens)
              --invitation CODE     for a server that registers bots by invitation
              --tls                 connect with TLS
              --tls-roots FILE      connect with TLS and trust the authorities in this PEM file
              --on-error WHAT       raise or continue: what an error in the bot does
              --give-up-after S     end when the server is gone for S seconds (default: never)
              --casual              unrated matches with house bots only, so that a first crash costs nothing
              --challenges          accept challenges: unrated matches whose bots are named
              --challenger BOT      accept challenges with this bot only; repeatable
              --no-receipts         keep nothing of the server's log of results beside the token
              --quiet               show warnings only
              --help                this text

            exit status: 0 after Ctrl-C, SIGTERM or enough matches; 1 for an error in the bot; 2 for a wrong command line; 3 where
            the server refuses the bot; 4 where no server was reached within --give-up-after seconds

            example: java … %s --server localhost:50051 --owner me
            """;

    private final Options options = new Options();
    private final Deque<String> words;
    private String server = "";
    private boolean help;

    private Command(String[] arguments) {
        words = new ArrayDeque<>(List.of(arguments));
        while (!words.isEmpty()) {
            option(words.poll());
        }
    }

    /** Runs the command line; returns the program's exit status. */
    static int status(Bot bot, String description, String[] arguments) {
        if (System.getProperty(FORMAT) == null) {
            System.setProperty(FORMAT, "%1$tT %4$s %5$s%6$s%n");
        }
        String program = bot.getClass().getSimpleName();
        Command command;
        try {
            command = new Command(arguments);
        } catch (ArenaException wrong) {
            System.err.println(bot.name() + ": " + wrong.getMessage() + "; see --help");
            return wrong.status();
        }
        if (command.help) {
            System.out.printf(HELP, program, description, program);
            return 0;
        }
        try {
            Arena.run(bot, command.server, command.options);
            return 0;
        } catch (ArenaException why) {
            String name = command.options.name.isEmpty() ? bot.name() : command.options.name;
            return told(name, why, System.err);
        }
    }

    private static int told(String name, ArenaException why, PrintStream errors) {
        if (why.getCause() != null) {
            why.getCause().printStackTrace(errors);
        }
        errors.println(name + ": " + why.getMessage());
        return why.status();
    }

    private void option(String word) {
        int equals = word.indexOf('=');
        String name = equals < 0 ? word : word.substring(0, equals);
        if (equals >= 0) {
            words.addFirst(word.substring(equals + 1));
        }
        int before = words.size();
        switch (name) {
            case "--server" -> server = value(name);
            case "--name" -> options.name(value(name));
            case "--owner" -> options.owner(value(name));
            case "--game" -> options.games(plus(options.games, value(name)));
            case "--ladder" -> options.ladders(plus(options.ladders, value(name)));
            case "--event" -> options.events(plus(options.events, value(name)));
            case "--bot-version" -> options.version(value(name));
            case "--capacity" -> options.capacity((int) number(name, 1, Integer.MAX_VALUE));
            case "--matches" -> options.matches((int) number(name, 0, Integer.MAX_VALUE));
            case "--token" -> options.token(value(name));
            case "--token-file" -> options.tokenFile(Path.of(value(name)));
            case "--invitation" -> options.invitation(value(name));
            case "--tls" -> options.tls();
            case "--tls-roots" -> options.tlsRoots(Path.of(value(name)));
            case "--on-error" -> onError(value(name));
            case "--give-up-after" -> options.giveUpAfter(Duration.ofMillis(Math.round(number(name, 0, 1e9) * 1000)));
            case "--casual" -> options.casual();
            case "--challenges" -> options.challenges();
            case "--challenger" -> options.challengers(plus(options.challengers, value(name)));
            case "--no-receipts" -> options.noReceipts();
            case "--quiet" -> LOG.setLevel(Level.WARNING);
            case "--help", "-h" -> help = true;
            default -> throw ArenaException.badArgument("there is no option '%s'", name);
        }
        if (equals >= 0 && words.size() == before) {
            throw ArenaException.badArgument("%s takes no value", name);
        }
    }

    /** Returns a copy of a list with one more word; a null list counts as empty. */
    private static List<String> plus(List<String> before, String word) {
        return Stream.concat(Stream.ofNullable(before).flatMap(List::stream), Stream.of(word)).toList();
    }

    private String value(String name) {
        if (words.isEmpty()) {
            throw ArenaException.badArgument("%s takes a value", name);
        }
        return words.poll();
    }

    private double number(String name, double least, double most) {
        String text = value(name);
        double number;
        try {
            number = most == Integer.MAX_VALUE ? Integer.parseInt(text) : Double.parseDouble(text);
        } catch (NumberFormatException wrong) {
            number = Double.NaN;
        }
        if (!(number >= least && number <= most)) {
            throw ArenaException.badArgument("%s is '%s': it takes a number from %.0f on", name, text, least);
        }
        return number;
    }

    private void onError(String text) {
        switch (text) {
            case "raise" -> { }
            case "continue" -> options.playOn();
            default -> throw ArenaException.badArgument("--on-error is '%s': it takes raise or continue", text);
        }
    }
}
