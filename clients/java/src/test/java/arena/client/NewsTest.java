package arena.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import arena.v1.MatchReport;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The log lines for messages from the server. */
class NewsTest {
    @Test
    void aReportThatSaysLessThanItShouldEndsNobodysRun() {
        try (Heard heard = new Heard()) {
            News.log(MatchReport.newBuilder().setMatchId(1).setSeat(3).build());
            News.log(MatchReport.newBuilder().setMatchId(-1).setSeat(-1).addPlaces(1).addScores(2).build());
            News.log(MatchReport.newBuilder().setMatchId(2).addPlaces(1).addScores(-7).build());
            assertEquals(
                    List.of("info: match 1 is over", "info: match 18446744073709551615 is over", "info: match 2: place 1 of 1 with -7 points"),
                    heard.take());
        }
    }
}
