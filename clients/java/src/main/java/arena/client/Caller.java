package arena.client;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import arena.client.ArenaException.Kind;
import arena.v1.Answer;
import arena.v1.Notice;
import arena.v1.NoticeKind;
import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Makes all calls of a bot's code, one at a time. It does no input or output. */
final class Caller {
    /** Thrown instead of calling the bot's own code once the program must stop. */
    static final class Interrupted extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** Maximum time that finished answers wait for further answers before they are sent, in nanoseconds. */
    private static final long HOLD = MILLISECONDS.toNanos(10);

    private final Bot bot;
    /** True to log an error in the bot and play the first legal action; false to end the run. */
    private final boolean playOn;
    private final Clock clock;
    /** True if the bot must not be called any more. */
    volatile boolean interrupted;
    /** The pending reply, null for none yet. */
    private PlayRequest.Builder out;
    /** The time at which the bot got the message, or at which a reply was last sent. */
    private long since;
    private Session session;
    private Consumer<PlayRequest> say;

    Caller(Bot bot, boolean playOn, Clock clock) {
        this.bot = bot;
        this.playOn = playOn;
        this.clock = clock;
    }

    /**
     * Sends the bot's replies to a message: no reply, one, or several if the bot takes long.
     *
     * <p>The bot is not asked about closed decisions, nor about any decision of a stream that has ended.
     *
     * @param session the session of the message's stream
     * @param received the clock's time when the message arrived
     * @throws ArenaException for an error of the bot, or PROTOCOL_MISMATCH
     * @throws Interrupted if the bot must stop
     */
    void react(PlayResponse message, Session session, long received, Consumer<PlayRequest> say) {
        this.session = session;
        this.say = say;
        out = null;
        since = clock.now();
        if (message.hasWelcome()) {
            tell(() -> bot.onWelcome(message.getWelcome()));
        }
        message.getStartsList().forEach(start -> tell(() -> bot.onMatchStart(start)));
        message.getRoundsList().forEach(round -> tell(() -> bot.onRound(round)));
        message.getReportsList().forEach(report -> tell(() -> bot.onMatchEnd(report)));
        message.getNoticesList().forEach(this::notice);
        if (!session.over && message.getDecisionsCount() > 0) {
            List<Decision> decisions = new ArrayList<>();
            message.getDecisionsList().forEach(each -> decisions.add(Decision.of(each, session.games, session)));
            answers(decisions, received);
        }
        if (out != null) {
            say.accept(take());
        }
    }

    private void notice(Notice notice) {
        tell(() -> bot.onNotice(notice));
        if (notice.getKind() == NoticeKind.NOTICE_KIND_SUSPENDED && notice.hasMatchId() && session.plays(notice.getMatchId())) {
            reply().addResumed(notice.getMatchId()); // a bot that receives this notice has returned
        }
        part();
    }

    /** Calls a method of the bot that returns no answer. */
    private void tell(Runnable call) {
        checkInterrupted();
        try {
            guarded(call);
        } catch (ArenaException wrong) {
            if (!playOn) {
                throw wrong;
            }
            News.failed("the bot failed outside a decision", wrong);
        }
    }

    private void answers(List<Decision> decisions, long received) {
        List<Decision> left = decisions;
        while (true) {
            left = left.stream().filter(each -> !each.isClosed()).toList();
            if (left.isEmpty()) {
                return;
            }
            int[] done = {0};
            List<Decision> asked = left;
            try {
                guarded(() -> ask(asked, received, done));
            } catch (ArenaException wrong) {
                String where = where(left.get(Math.min(done[0], left.size() - 1)), left.size());
                if (!playOn) {
                    throw wrong.with("\n" + where);
                }
                News.failed("the bot failed; its first legal action is played instead: " + where, wrong);
                if (done[0] < left.size()) {
                    Decision decision = left.get(done[0]);
                    answer(decision, decision.legal().get(0));
                    done[0]++;
                    part();
                }
            }
            left = left.subList(done[0], left.size());
        }
    }

    /** Asks the bot for all decisions and counts the answered ones. */
    private void ask(List<Decision> decisions, long received, int[] done) {
        decisions.forEach(decision -> tellTime(decision, received));
        checkInterrupted();
        int of = decisions.size();
        Iterable<Integer> choices = bot.decideMany(List.copyOf(decisions));
        if (choices == null) {
            throw new ArenaException(Kind.BAD_ANSWER, "decideMany gave null to " + of + " decisions");
        }
        for (Integer choice : choices) {
            int at = done[0];
            if (at == of) {
                throw new ArenaException(Kind.BAD_ANSWER, "decideMany gave more than " + of + " answers to " + of + " decisions");
            }
            Decision decision = decisions.get(at);
            if (choice != null || !decision.isClosed()) {
                List<Integer> legal = decision.legal();
                if (choice == null || !legal.contains(choice)) {
                    throw new ArenaException(
                            Kind.BAD_ANSWER,
                            "answer " + (at + 1) + " of " + of + " is " + choice + ", which is not legal here; decision.legal() is "
                                    + legal);
                }
                answer(decision, choice);
            }
            done[0] = at + 1;
            part();
            if (done[0] < of) {
                tellTime(decisions.get(done[0]), received);
                checkInterrupted();
            }
        }
        if (done[0] < of) {
            throw new ArenaException(Kind.BAD_ANSWER, "decideMany gave " + done[0] + " answers to " + of + " decisions");
        }
    }

    private void tellTime(Decision decision, long received) {
        decision.passed(Math.max(0, Math.round((clock.now() - received) / 1e6)));
    }

    private void checkInterrupted() {
        if (interrupted) {
            throw new Interrupted();
        }
    }

    /** Adds an answer to the reply, unless its match has ended. After a late one, the server says how late it was. */
    private void answer(Decision decision, int action) {
        if (decision.isClosed() && !session.plays(decision.matchId())) {
            return;
        }
        reply().addAnswers(
                Answer.newBuilder().setMatchId(decision.matchId()).setDecisionId(decision.decisionId()).setAction(action));
    }

    private PlayRequest.Builder reply() {
        if (out == null) {
            out = PlayRequest.newBuilder();
        }
        return out;
    }

    private PlayRequest take() {
        PlayRequest reply = out.build();
        out = null;
        since = clock.now();
        return reply;
    }

    /** Sends the reply if it has waited long enough. */
    private void part() {
        if (out != null && clock.now() - since > HOLD) {
            say.accept(take());
        }
    }

    private static void guarded(Runnable call) {
        try {
            call.run();
        } catch (ArenaException | Interrupted ours) {
            throw ours;
        } catch (RuntimeException | Error cause) {
            throw new ArenaException(Kind.BOT_FAILED, "the bot failed: " + cause, cause);
        }
    }

    /** Describes a decision and the bot's view. */
    private static String where(Decision decision, int of) {
        String batch = of > 1 ? ", the first unanswered of " + of : "";
        Message seen = decision.view();
        FieldDescriptor round = seen.getDescriptorForType().findFieldByName("round");
        String view;
        try {
            view = JsonFormat.printer().omittingInsignificantWhitespace().print(seen);
        } catch (InvalidProtocolBufferException unknown) { // the view of a game that this client does not know
            view = seen.toString();
        }
        return "in match " + Long.toUnsignedString(decision.matchId()) + " of " + decision.game().name()
                + (round == null ? "" : ", round " + ((int) seen.getField(round) + 1)) + ", decision " + Integer.toUnsignedString(decision.decisionId()) + batch + "; legal: "
                + decision.legal() + "; view: " + view;
    }
}
