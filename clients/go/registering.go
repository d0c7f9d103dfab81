package client

import (
	"errors"
	"fmt"
	"log/slog"

	"google.golang.org/grpc/status"

	arenav1 "arena.example/client/v1"
)

func (c *node) register() {
	try, profile := c.try, c.profile
	made, err := offerToken(profile.tokenFile)
	if err != nil {
		c.finish(err)
		return
	}
	request := &arenav1.RegisterBotRequest{Name: profile.name, Owner: profile.owner, Invitation: profile.invitation, Token: made.token}
	c.channel.register(request, answerTime, func(answer *arenav1.RegisterBotResponse, ended *status.Status) {
		c.during(try, func() {
			if answer == nil {
				failure := registrationFailure(ended)
				if forGood := (*Error)(nil); errors.As(failure, &forGood) {
					made.drop()
				}
				c.fail(failure)
				return
			}
			if err := made.keep(answer.Token); err != nil {
				c.finish(err)
				return
			}
			slog.Info(fmt.Sprintf("registered %s at %s; its token is in %s", answer.Name, profile.address, profile.tokenFile))
			c.converse(answer.Token)
		})
	})
}
