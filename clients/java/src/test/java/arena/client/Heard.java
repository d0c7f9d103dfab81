package arena.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Captures the library's log, which does not reach the console, until this object is closed. */
final class Heard extends Handler implements AutoCloseable {
    private static final Map<Level, String> LEVELS = Map.of(Level.INFO, "info", Level.WARNING, "warn", Level.SEVERE, "error");

    final List<String> said = new ArrayList<>();
    private final Logger log = Logger.getLogger("arena.client");

    Heard() {
        log.setUseParentHandlers(false);
        log.addHandler(this);
    }

    /** The log lines since the last call, each as "level: text". */
    synchronized List<String> take() {
        List<String> taken = List.copyOf(said);
        said.clear();
        return taken;
    }

    @Override
    public synchronized void publish(LogRecord message) {
        said.add(LEVELS.get(message.getLevel()) + ": " + message.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        log.removeHandler(this);
        log.setUseParentHandlers(true);
    }
}
