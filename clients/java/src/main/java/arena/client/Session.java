package arena.client;

import arena.v1.Decision;
import arena.v1.Invitation;
import arena.v1.LadderTerms;
import arena.v1.MatchKind;
import arena.v1.MatchReport;
import arena.v1.MatchStart;
import arena.v1.Notice;
import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import arena.v1.Ready;
import arena.v1.Welcome;
import com.google.protobuf.ByteString;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The part of a stream's conversation that does not involve the bot, from the welcome on: heartbeats,
 * invitations, the running matches. It continues while the bot thinks. It never waits and does no
 * input or output. The bot's thread reads only the games, the open decisions and the ended matches.
 */
final class Session {
    private record Key(long match, int decision) {}

    /** Maximum number of ended matches to remember; their messages may still be waiting for the bot. */
    private static final int MOST_ENDED = 1000;

    /** The games that the server plays, by name. */
    final Map<String, Catalog> games;
    /** True if the stream has ended. The next stream repeats the open decisions. */
    volatile boolean over;
    private final Set<Key> open = ConcurrentHashMap.newKeySet();
    /** The latest ended matches, in the order of their ends. */
    private final Set<Long> ended = ConcurrentHashMap.newKeySet();
    private final Queue<Long> endings = new ArrayDeque<>();

    private final Profile profile;
    private final Progress progress;
    private final Receipts receipts;
    /** The capacity last sent to the server; negative if it must be sent again. */
    private int room;

    /**
     * Begins the conversation; throws NO_GAME_IN_COMMON if the welcome shows none of the bot's games,
     * PROTOCOL_MISMATCH if it does not confirm the bot's ladders and events.
     *
     * @param receipts records the reports that have an entry of the log; null to record nothing
     */
    Session(Welcome welcome, Profile profile, Progress progress, Receipts receipts) {
        confirm("ladder", profile.ladders, welcome.getLaddersList().stream().map(LadderTerms::getName).toList());
        confirm("event", profile.events, welcome.getEventsList());
        if (welcome.getGamesList().stream().noneMatch(game -> profile.games.contains(game.getName()))) {
            throw new ArenaException(
                    ArenaException.Kind.NO_GAME_IN_COMMON,
                    "the server plays none of the bot's games (" + String.join(", ", profile.games) + ")");
        }
        games = welcome.getGamesList().stream()
                .map(Catalog::of)
                .collect(Collectors.toMap(Catalog::name, Function.identity(), (one, other) -> other));
        this.profile = profile;
        this.progress = progress;
        this.receipts = receipts;
        room = progress.room(profile.capacity);
    }

    private static void confirm(String kind, List<String> names, List<String> confirmed) {
        for (String name : names) {
            if (!confirmed.contains(name)) {
                throw new ArenaException(
                        ArenaException.Kind.PROTOCOL_MISMATCH,
                        String.format("the server does not confirm the %1$s %2$s: it is older than %1$ss; name none", kind, name));
            }
        }
    }

    /** True if any part of a message is for the bot itself. */
    static boolean concernsBot(PlayResponse message) {
        return message.getDecisionsCount() + message.getStartsCount() + message.getRoundsCount() + message.getReportsCount()
                        + message.getNoticesCount() > 0;
    }

    /** True if a decision is open: it has not been made without the bot, and its match has not ended. */
    boolean isOpen(long match, int decision) {
        return open.contains(new Key(match, decision));
    }

    /** True if a match is still running on this stream, as far as the client knows. */
    boolean plays(long match) {
        return !over && !ended.contains(match);
    }

    /** Applies a message; returns an immediate reply, null for none. */
    PlayRequest receive(PlayResponse message) {
        PlayRequest.Builder reply = PlayRequest.newBuilder();
        if (message.hasHeartbeat()) {
            reply.setHeartbeat(message.getHeartbeat());
        }
        for (Invitation invitation : message.getInvitationsList()) {
            invited(invitation, reply);
        }
        message.getStartsList().forEach(this::start);
        message.getClosedList().forEach(closed -> open.remove(new Key(closed.getMatchId(), closed.getDecisionId())));
        message.getReportsList().forEach(this::end);
        message.getNoticesList().forEach(this::notice);
        for (Decision decision : message.getDecisionsList()) {
            progress.playing.add(decision.getMatchId());
            open.add(new Key(decision.getMatchId(), decision.getDecisionId()));
        }
        int wanted = progress.room(profile.capacity);
        if (wanted > room) {
            room = wanted;
            reply.setCapacity(wanted);
        }
        boolean said = reply.hasHeartbeat() || reply.hasCapacity() || reply.getReadyCount() + reply.getDeclinedCount() > 0;
        return said ? reply.build() : null;
    }

    private void notice(Notice notice) {
        switch (notice.getKind()) {
            case NOTICE_KIND_WITHDRAWN, NOTICE_KIND_TAKEN -> progress.accepted.remove(notice.getInvitationId()); // this invitation leads to no match
            case NOTICE_KIND_PARKED -> {
                progress.parked = notice.getText();
                progress.ending = true;
            }
            default -> { }
        }
    }

    private void invited(Invitation invitation, PlayRequest.Builder reply) {
        long number = invitation.getInvitationId();
        if (invitation.getKind() == MatchKind.MATCH_KIND_CHALLENGE && !takes(invitation)) {
            reply.addDeclined(number);
        } else if (progress.accepted.containsKey(number) || progress.more()) {
            ByteString nonce = Progress.ownChance();
            progress.accepted.put(number, nonce);
            reply.addReady(Ready.newBuilder().setInvitationId(number).setNonce(nonce));
        } else {
            reply.addDeclined(number);
            room = -1;
        }
    }

    /** Decides whether to accept a challenge, and logs the decision. */
    private boolean takes(Invitation invitation) {
        boolean taken = profile.challengers.isEmpty()
                || invitation.getBotsList().stream().anyMatch(name -> profile.challengers.contains(name.toLowerCase(Locale.ROOT)));
        News.info("a challenge of %s: %s", String.join(", ", invitation.getBotsList()), taken ? "accepted" : "declined");
        return taken;
    }

    private void start(MatchStart start) {
        long match = start.getMatchId();
        ByteString nonce = progress.accepted.remove(start.getInvitationId());
        progress.playing.add(match);
        Seat before = progress.seats.get(match);
        if (before == null || !before.commitment().equals(start.getCommitment())) {
            progress.seats.put(match, new Seat(nonce == null ? ByteString.EMPTY : nonce, start.getSalt(), start.getCommitment()));
        }
    }

    private void end(MatchReport report) {
        long match = report.getMatchId();
        open.removeIf(key -> key.match == match);
        if (ended.add(match)) {
            endings.add(match);
        }
        if (endings.size() > MOST_ENDED) {
            ended.remove(endings.remove());
        }
        progress.playing.remove(match);
        Seat seat = progress.seats.remove(match);
        if (report.hasEntry()) {
            if (receipts != null) {
                receipts.recordMatch(report, seat);
            }
            progress.reportsAfter = report.getEntry().getNumber();
        }
        if (report.getInterrupted().isEmpty()) {
            progress.finished++;
        }
    }
}
