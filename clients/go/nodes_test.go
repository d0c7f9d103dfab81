package client

import (
	"context"
	"fmt"
	"iter"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	arenav1 "arena.example/client/v1"
)

// testNode is a real server at its own socket. It announces a list of nodes and has one stream at a time.
type testNode struct {
	*testing.T
	number  uint32
	address string
	// says delivers the bot's messages to the test; sends takes the server's messages from it.
	says   chan *arenav1.PlayRequest
	sends  chan *arenav1.PlayResponse
	listed []*testNode
}

func (n *testNode) play(stream arenav1.PlayService_PlayServer) error {
	over, says := make(chan bool), n.says
	go func() {
		defer close(over)
		defer close(says)
		for leaving := false; !leaving; {
			request, err := stream.Recv()
			if err != nil {
				return
			}
			says <- request
			leaving = request.Leave
		}
	}()
	welcome := &arenav1.Welcome{Bot: "bot", Games: []*arenav1.GameCatalog{{Name: "sixth_sense"}}, Node: n.number}
	for _, each := range n.listed {
		_, port, _ := net.SplitHostPort(each.address)
		welcome.Nodes = append(welcome.Nodes, &arenav1.Node{Number: each.number, Address: ":" + port})
	}
	stream.Send(&arenav1.PlayResponse{Welcome: welcome})
	for {
		select {
		case <-over:
			return nil
		case next := <-n.sends:
			stream.Send(next)
		}
	}
}

// listen starts the node.
func (n *testNode) listen() {
	n.Helper()
	n.says, n.sends = make(chan *arenav1.PlayRequest, 100), make(chan *arenav1.PlayResponse, 100)
	n.address = serve(n.T, n.play)
}

// hears waits for the bot's next message.
func (n *testNode) hears() *arenav1.PlayRequest {
	n.Helper()
	select {
	case said, open := <-n.says:
		if !open {
			n.Fatalf("the bot has left node %d", n.number)
		}
		return said
	case <-time.After(patience):
		n.Fatalf("node %d hears nothing", n.number)
	}
	return nil
}

// hasRoom waits until the bot has sent the node this capacity.
func (n *testNode) hasRoom(wanted uint32) {
	n.Helper()
	for {
		said := n.hears()
		if said.Capacity != nil && *said.Capacity == wanted || said.Hello != nil && said.Hello.Capacity == wanted {
			return
		}
	}
}

// seats starts a match with the bot.
func (n *testNode) seats(match uint64) {
	n.Helper()
	n.sends <- &arenav1.PlayResponse{Invitations: []*arenav1.Invitation{{InvitationId: 1, Game: "sixth_sense"}}}
	for len(n.hears().Ready) == 0 {
	}
	n.sends <- &arenav1.PlayResponse{Starts: []*arenav1.MatchStart{{MatchId: match, InvitationId: 1, Game: "sixth_sense"}}}
	n.settles()
}

// settles waits until the bot's connection has handled all messages from this node, and ignores the bot's replies.
func (n *testNode) settles() {
	n.Helper()
	beat := uint64(7)
	n.sends <- &arenav1.PlayResponse{Heartbeat: &beat}
	for n.hears().Heartbeat == nil {
	}
}

func asksFor(match uint64) *arenav1.PlayResponse {
	view := &arenav1.Decision_SixthSense{SixthSense: &arenav1.SixthSenseView{Seats: 2}}
	return &arenav1.PlayResponse{Decisions: []*arenav1.Decision{{MatchId: match, DecisionId: 1, Legal: []uint32{0}, View: view}}}
}

// testNodes starts nodes that list each other, and a bot that dials the first node.
func testNodes(t *testing.T, count int, bot Bot, options Options) (nodes []*testNode, stop func(), over chan error) {
	quiet(t)
	for number := range count {
		made := &testNode{T: t, number: uint32(number + 1)}
		made.listen()
		nodes = append(nodes, made)
	}
	for _, each := range nodes {
		each.listed = nodes
	}
	bot.Version, options.Token, options.NoReceipts = "1", "given", true
	ctx, stop := context.WithCancel(t.Context())
	over = make(chan error, 1)
	go func() { over <- Play(ctx, bot, nodes[0].address, options) }()
	return nodes, stop, over
}

func ended(t *testing.T, over chan error) error {
	t.Helper()
	select {
	case err := <-over:
		return err
	case <-time.After(patience):
		t.Fatal("it plays on")
		return nil
	}
}

// A bot has a stream to each node, divides its capacity among them, and decides about several nodes' questions at
// once.
func TestABotDialsEveryNode(t *testing.T) {
	asked, think := make(chan []uint64, 100), make(chan bool, 100)
	bot := Bot{Capacity: 8, DecideMany: func(decisions []*Decision) iter.Seq[int] {
		var matches []uint64
		for _, each := range decisions {
			matches = append(matches, each.MatchID)
		}
		asked <- matches
		<-think
		return slices.Values(make([]int, len(decisions)))
	}}
	nodes, stop, over := testNodes(t, 3, bot, Options{})
	for at, room := range []uint32{3, 3, 2} {
		nodes[at].hasRoom(room)
	}
	nodes[0].seats(1)
	nodes[1].seats(66)
	nodes[2].seats(131)
	nodes[0].sends <- asksFor(1)
	if first := <-asked; !slices.Equal(first, []uint64{1}) {
		t.Fatalf("it is asked %v first", first)
	}
	for _, at := range []int{1, 2} {
		nodes[at].sends <- asksFor(uint64(1 + 65*at))
		nodes[at].settles()
	}
	think <- true
	if both := <-asked; !slices.Equal(slices.Sorted(slices.Values(both)), []uint64{66, 131}) {
		t.Errorf("it is asked %v at once", both)
	}
	think <- true
	for at, node := range nodes {
		answers := node.hears().Answers
		if len(answers) != 1 || answers[0].MatchId != uint64(1+65*at) {
			t.Errorf("node %d gets %v", node.number, answers)
		}
	}
	stop()
	for _, node := range nodes {
		if said := node.hears(); !proto.Equal(said, &arenav1.PlayRequest{Leave: true}) {
			t.Errorf("node %d hears %v", node.number, said)
		}
	}
	if err := ended(t, over); err != context.Canceled {
		t.Errorf("it returns %v", err)
	}
}

// Only the first nodes of a very long list are used.
func TestAListOfVeryManyNodesIsCutOff(t *testing.T) {
	quiet(t)
	many := []*arenav1.Node{}
	for number := range uint32(1000) {
		many = append(many, &arenav1.Node{Number: number + 1, Address: fmt.Sprintf(":%d", number+1)})
	}
	if found := usable(many, "here:50051"); len(found) != mostNodes || found[mostNodes-1].Address != "here:64" {
		t.Errorf("of 1,000 it uses %v", found)
	}
}
