package client

import (
	"context"
	"errors"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	arenav1 "arena.example/client/v1"
)

// Unpark un-parks a bot, so that the server invites it again. The bot needs only a Name; its token is found
// as for Run. The error is an *Error, of kind Unreachable if there is no connection.
func Unpark(ctx context.Context, bot Bot, address string, options Options) error {
	_, err := manage(ctx, bot, address, options, func(ctx context.Context, bots arenav1.BotServiceClient, name string) (string, error) {
		_, err := bots.UnparkBot(ctx, &arenav1.UnparkBotRequest{Name: name})
		return "", err
	})
	return err
}

// JoinLadder lets a bot enter a ladder with the code of an invitation; name the ladder in Options.Ladders afterwards. The
// bot and the error are as for Unpark.
func JoinLadder(ctx context.Context, bot Bot, address, ladder, invitation string, options Options) error {
	_, err := manage(ctx, bot, address, options, func(ctx context.Context, bots arenav1.BotServiceClient, _ string) (string, error) {
		_, err := bots.JoinLadder(ctx, &arenav1.JoinLadderRequest{Ladder: ladder, Invitation: invitation})
		return "", err
	})
	return err
}

// RotateToken replaces a bot's token, stores the new one in the token file unless Options.Token has the old one, and returns it. The
// server ends the bot's stream. The bot and the error are as for Unpark.
func RotateToken(ctx context.Context, bot Bot, address string, options Options) (string, error) {
	return manage(ctx, bot, address, options, func(ctx context.Context, bots arenav1.BotServiceClient, name string) (string, error) {
		answer, err := bots.RotateToken(ctx, &arenav1.RotateTokenRequest{Name: name})
		return answer.GetToken(), err
	})
}

// manage makes a call about a bot with its token, and stores the token that the call returns, if any.
func manage(ctx context.Context, bot Bot, address string, options Options, call func(context.Context, arenav1.BotServiceClient, string) (string, error)) (string, error) {
	bot.Version, bot.Decide = "-", func(*Decision) int { return None } // neither is used
	profile, err := profileOf(&bot, address, options)
	if err != nil {
		return "", err
	}
	token := profile.token
	if token == "" {
		if token, err = readToken(profile.tokenFile); err != nil {
			return "", err
		}
	}
	if token == "" {
		return "", badArgument("there is no token in %s: name the bot as when it was registered, or its TokenFile", profile.tokenFile)
	}
	line, err := openNetwork(profile, profile.address)
	if err != nil {
		return "", err
	}
	defer line.close()
	limited, stop := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token), answerTime)
	defer stop()
	made, err := call(limited, arenav1.NewBotServiceClient(line.(*network).line), profile.name)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		failure := playFailure(status.Convert(err))
		if lost := (*dropped)(nil); errors.As(failure, &lost) {
			failure = &Error{Kind: Unreachable, Text: "no connection to " + profile.address + ": " + lost.text}
		}
		return "", failure
	case made != "" && profile.token == "":
		err = (&newToken{file: profile.tokenFile, draft: profile.tokenFile + ".new"}).keep(made)
	}
	return made, err
}
