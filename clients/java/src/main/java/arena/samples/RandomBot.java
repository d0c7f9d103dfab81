package arena.samples;

import arena.client.Arena;
import arena.client.Bot;
import arena.client.Decision;
import java.util.concurrent.ThreadLocalRandom;

/** The shortest complete bot: it plays any legal action in any game. */
public final class RandomBot extends Bot {
    private RandomBot() {
        super("random", "sixth_sense", "nullern");
    }

    @Override
    public int decide(Decision decision) {
        return decision.legal().get(ThreadLocalRandom.current().nextInt(decision.legal().size()));
    }

    public static void main(String[] arguments) {
        Arena.main(new RandomBot(), "Plays at random.", arguments);
    }
}
