package client

import (
	"context"
	"fmt"
	"iter"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	arenav1 "arena.example/client/v1"
)

// testNode is a real server at its own socket. It announces a list of nodes and has one stream at a time.
type testNode struct {
	*testing.T
	number  uint32
	address string
	server  *grpc.Server
	// says receives the bot's messages, send takes the server's; a status ends the stream.
	says   chan *arenav1.PlayRequest
	sends  chan any
	mutex  sync.Mutex
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
	n.mutex.Lock()
	welcome := &arenav1.Welcome{Bot: "bot", Games: []*arenav1.GameCatalog{{Name: "sixth_sense"}}, Node: n.number}
	for _, each := range n.listed {
		_, port, _ := net.SplitHostPort(each.address)
		welcome.Nodes = append(welcome.Nodes, &arenav1.Node{Number: each.number, Address: ":" + port})
	}
	n.mutex.Unlock()
	stream.Send(&arenav1.PlayResponse{Welcome: welcome})
	for {
		select {
		case <-over:
			return nil
		case next := <-n.sends:
			switch next := next.(type) {
			case *arenav1.PlayResponse:
				stream.Send(next)
			case *status.Status:
				return next.Err()
			}
		}
	}
}

// listen starts the node at its address, without its earlier streams.
func (n *testNode) listen() {
	n.Helper()
	n.says, n.sends = make(chan *arenav1.PlayRequest, 100), make(chan any, 100)
	listener, err := net.Listen("tcp", n.address)
	if err != nil {
		n.Fatal(err)
	}
	n.address, n.server = listener.Addr().String(), grpc.NewServer()
	small := &smallServer{script: n.play}
	arenav1.RegisterBotServiceServer(n.server, small)
	arenav1.RegisterPlayServiceServer(n.server, small)
	go n.server.Serve(listener)
	n.Cleanup(n.server.Stop)
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

// hasRoom waits until the node knows this capacity.
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

func (n *testNode) reports(match uint64) {
	n.sends <- &arenav1.PlayResponse{Reports: []*arenav1.MatchReport{{MatchId: match, Places: []uint32{1, 2}, Scores: []int32{1, 0}}}}
}

// testNodes starts nodes that list each other, and a bot that dials the first node.
func testNodes(t *testing.T, count int, bot Bot, options Options) (nodes []*testNode, stop func(), over chan error) {
	quiet(t)
	for number := range count {
		made := &testNode{T: t, number: uint32(number + 1), address: "127.0.0.1:0"}
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

// A node that vanishes costs only its own matches: the others get its capacity until it returns.
func TestANodeThatVanishesCostsItsOwnMatches(t *testing.T) {
	bot := Bot{Capacity: 8, Decide: func(decision *Decision) int { return decision.Legal[0] }}
	nodes, stop, over := testNodes(t, 2, bot, Options{})
	nodes[0].hasRoom(4)
	nodes[1].hasRoom(4)
	nodes[1].seats(66)
	nodes[0].seats(1)
	nodes[1].server.Stop()
	nodes[0].hasRoom(8)
	nodes[0].sends <- asksFor(1)
	if said := nodes[0].hears(); len(said.Answers) != 1 {
		t.Errorf("it plays on with %v", said)
	}
	nodes[1].listen()
	nodes[1].hasRoom(4)
	nodes[0].hasRoom(4)
	stop()
	ended(t, over)
}

// A node that is started later is dialled after the next welcome that lists it; a node that is no longer listed is
// given up.
func TestTheListOfNodesMayChange(t *testing.T) {
	bot := Bot{Capacity: 8, Decide: func(decision *Decision) int { return decision.Legal[0] }}
	nodes, stop, over := testNodes(t, 2, bot, Options{})
	nodes[1].hasRoom(4)
	third := &testNode{T: t, number: 3, address: "127.0.0.1:0"}
	third.listen()
	nodes[1].server.Stop()
	nodes[0].hasRoom(8)
	list := []*testNode{nodes[0], third}
	for _, each := range list {
		each.mutex.Lock()
		each.listed = list
		each.mutex.Unlock()
	}
	nodes[0].server.Stop()
	nodes[0].listen()
	nodes[0].hasRoom(4)
	third.hasRoom(4)
	stop()
	ended(t, over)
}

// A node that comes while the bot plays is dialled, and one that has left is given up when it vanishes.
func TestTheListOfNodesMayChangeWhileABotPlays(t *testing.T) {
	bot := Bot{Capacity: 6, Decide: func(decision *Decision) int { return decision.Legal[0] }}
	nodes, stop, over := testNodes(t, 2, bot, Options{})
	nodes[0].hasRoom(3)
	nodes[1].hasRoom(3)
	third := &testNode{T: t, number: 3, address: "127.0.0.1:0"}
	third.listen()
	third.listed = []*testNode{nodes[0], third}
	list := func(listed ...*testNode) *arenav1.PlayResponse {
		message := &arenav1.PlayResponse{}
		for _, each := range listed {
			message.Nodes = append(message.Nodes, &arenav1.Node{Number: each.number, Address: each.address})
		}
		return message
	}
	nodes[0].sends <- list(nodes[0], nodes[1], third)
	third.hasRoom(2)
	nodes[0].hasRoom(2)
	nodes[1].server.Stop()
	nodes[0].hasRoom(3)
	nodes[0].sends <- list(nodes[0], third)
	nodes[0].settles()
	nodes[1].listen()
	select {
	case <-nodes[1].says:
		t.Error("it dials a node that has left")
	case <-time.After(firstWait + 200*time.Millisecond):
	}
	stop()
	ended(t, over)
}

// Unusable entries of the list are skipped.
func TestUnusableEntriesOfTheListAreSkipped(t *testing.T) {
	quiet(t)
	many := []*arenav1.Node{}
	for number := range uint32(1000) {
		many = append(many, &arenav1.Node{Number: number + 1, Address: fmt.Sprintf(":%d", number+1)})
	}
	if found := usable(many, "here:50051"); len(found) != mostNodes || found[mostNodes-1] != (listed{mostNodes, "here:64"}) {
		t.Errorf("of 1,000 it uses %v", found)
	}
	odd := []*arenav1.Node{{Number: 0, Address: "here:7"}, {Number: 1, Address: ":7"}, {Number: 1, Address: ":8"}, {Number: 2, Address: ""},
		{Number: 3, Address: "there"}, {Number: 4, Address: "here:7"}, {Number: 5, Address: ":0"}, {Number: 6, Address: "there:7"}}
	if found := usable(odd, "here:50051"); !slices.Equal(found, []listed{{1, "here:7"}, {6, "there:7"}}) {
		t.Errorf("it uses %v", found)
	}
}

// A list from a server that does not tell its own number is not used.
func TestAListWithoutTheNumberOfTheAnsweringNodeIsNotUsed(t *testing.T) {
	quiet(t)
	given := "given"
	spec := botSpec{Games: []string{"sixth_sense"}, Version: "1", Token: &given, Capacity: 1}
	p := &performance{T: t, tokens: map[string]string{}, spec: spec}
	p.begin()
	call := next[*scriptedCall](p)
	call.events.message(p.message([]byte(`{"welcome": {"games": [{"name": "sixth_sense"}], "nodes": [{"number": 2, "address": "localhost:2"}]}}`)))
	if len(p.connection.nodes) != 1 {
		t.Errorf("it dials %d nodes", len(p.connection.nodes))
	}
	p.connection.end(nil)
}

// A known node is dialled at its new address when its listed address has changed.
func TestANodeThatMovedIsDialledAtItsNewAddress(t *testing.T) {
	quiet(t)
	p := atTwoNodes(t, botSpec{Capacity: 2})
	p.connection.locked(func() {
		c := p.connection
		given := c.nodes[0].address
		list := []*arenav1.Node{{Number: 1, Address: "localhost:1"}, {Number: 2, Address: "localhost:3"}}
		c.follow(c.nodes[0], list)
		if c.nodes[0].address != given || c.nodes[1].address != "localhost:3" {
			t.Errorf("the addresses are %s, %s", c.nodes[0].address, c.nodes[1].address)
		}
		list[0].Address = "localhost:4"
		c.follow(c.nodes[1], list)
		if c.nodes[0].address != "localhost:4" {
			t.Errorf("the first address stays %s", c.nodes[0].address)
		}
	})
	p.connection.end(nil)
}

// A bot that is taken over at one node leaves all nodes.
func TestTakenOverAnywhereIsFinal(t *testing.T) {
	bot := Bot{Capacity: 8, Decide: func(decision *Decision) int { return decision.Legal[0] }}
	nodes, _, over := testNodes(t, 2, bot, Options{})
	nodes[0].hasRoom(4)
	nodes[1].hasRoom(4)
	taken, _ := status.New(codes.Aborted, "taken over").WithDetails(&errdetails.ErrorInfo{Reason: "TAKEN_OVER", Domain: "arena"})
	nodes[1].sends <- taken
	if failure, ours := ended(t, over).(*Error); !ours || failure.Kind != TakenOver {
		t.Errorf("it ends with %v", failure)
	}
}

// A run counts its matches over all nodes, and a report that two nodes send counts once.
func TestMatchesAreCountedOverAllNodes(t *testing.T) {
	var finished []uint64
	bot := Bot{Capacity: 8, Decide: func(decision *Decision) int { return decision.Legal[0] }}
	bot.OnMatchEnd = func(report *MatchReport) { finished = append(finished, report.MatchId) }
	nodes, _, over := testNodes(t, 2, bot, Options{Matches: 2})
	nodes[0].hasRoom(2)
	nodes[1].hasRoom(2)
	nodes[0].seats(1)
	nodes[1].hasRoom(1)
	nodes[1].reports(1) // it is over here, too
	nodes[0].hasRoom(1)
	nodes[0].reports(1)
	nodes[1].seats(66)
	nodes[1].reports(66)
	if err := ended(t, over); err != nil || !slices.Equal(finished, []uint64{1, 66}) {
		t.Errorf("after %v it ends with %v", finished, err)
	}
}

// After a minute, a bot no longer waits for a report from a node that has vanished.
func TestANodeThatIsGoneForGoodHoldsNoRunUp(t *testing.T) {
	quiet(t)
	p := atTwoNodes(t, botSpec{Capacity: 2, Matches: 1})
	p.call.events.message(p.message([]byte(`{"starts": [{"matchId": "66", "game": "sixth_sense"}]}`)))
	p.connection.locked(func() { p.connection.goal.ending = true })
	since := p.clock.time
	for !p.ended && p.clock.time < since+time.Hour {
		p.call.events.ended(status.New(codes.Unavailable, "gone"))
		p.clock.pass(time.Hour, p.settle, func() bool { return len(p.tries) > 0 || p.ended })
		if len(p.tries) > 0 {
			p.call = next[*scriptedCall](p.performance)
		}
		p.first.closeIfAsked()
	}
	if waited := p.clock.time - since; !p.ended || p.err != nil || waited < goneAfter || waited > goneAfter+longestOutageWait {
		t.Errorf("after %v it ends with %v", waited, p.err)
	}
}

// If there are fewer places than nodes, each place is at one node and moves to another after a match or a wait, longer
// each time.
func TestAPlaceMovesOn(t *testing.T) {
	quiet(t)
	p := atTwoNodes(t, botSpec{Capacity: 1})
	rooms := func(wanted string) {
		t.Helper()
		var found []string
		for _, each := range p.connection.nodes {
			found = append(found, fmt.Sprint(each.session.room))
		}
		if seen := strings.Join(found, " "); seen != wanted {
			t.Errorf("at %v the rooms are %s, not %s", p.clock.time, seen, wanted)
		}
	}
	never := func() bool { return false }
	rooms("1 0")
	p.clock.pass(placeWait-placeLook, p.settle, never)
	rooms("1 0")
	moves := func() bool { return p.connection.nodes[1].session.room > 0 }
	p.clock.pass(placeWait+2*placeLook, p.settle, moves)
	rooms("0 1")
	p.clock.pass(2*placeWait-placeLook, p.settle, never)
	rooms("0 1")
	p.call.events.message(p.message([]byte(`{"starts": [{"matchId": "66", "game": "sixth_sense"}]}`)))
	rooms("0 0") // so that the node invites it to no other match there
	p.clock.pass(time.Minute, p.settle, never)
	rooms("0 0")
	p.call.events.message(p.message([]byte(`{"reports": [{"matchId": "66", "interrupted": "by a test"}]}`)))
	rooms("1 0")
	p.connection.end(nil)
}

// twoNodes is a performance with streams to two nodes; its call is the stream to the second node.
type twoNodes struct {
	*performance
	first *scriptedCall
}

func (s *scriptedCall) closeIfAsked() {
	if s.closed {
		s.closed = false
		s.events.ended(status.New(codes.OK, ""))
	}
}

func atTwoNodes(t *testing.T, spec botSpec) *twoNodes {
	given := "given"
	spec.Games, spec.Version, spec.Token = []string{"sixth_sense"}, "1", &given
	p := &twoNodes{performance: &performance{T: t, tokens: map[string]string{}, spec: spec}}
	p.begin()
	welcome := `{"welcome": {"games": [{"name": "sixth_sense"}], "node": %d, "nodes": [{"number": 1, "address": "localhost:1"}, {"number": 2, "address": "localhost:2"}]}}`
	p.first = next[*scriptedCall](p.performance)
	p.first.events.message(p.message(fmt.Appendf(nil, welcome, 1)))
	p.call = next[*scriptedCall](p.performance)
	p.call.events.message(p.message(fmt.Appendf(nil, welcome, 2)))
	p.settle()
	return p
}
