package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
)

const method = "/bench.Echo/Echo"

// raw is a codec that leaves messages unchanged, so that the echo costs no more than the transport.
type raw struct{}

func (raw) Name() string                        { return "raw" }
func (raw) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }
func (raw) Unmarshal(data []byte, message any) error {
	*message.(*[]byte) = append([]byte(nil), data...)
	return nil
}

// serve answers every message with a message of fixed size, and each line of input with the processor time used so far.
func serve(arguments []string) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	size := flags.Int("response", 256, "bytes of an answer")
	parsed(flags, arguments)
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	response := make([]byte, *size)
	server := grpc.NewServer(grpc.ForceServerCodec(raw{}))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Echo", HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{{StreamName: "Echo", ServerStreams: true, ClientStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
			var request []byte
			for {
				if err := stream.RecvMsg(&request); err != nil {
					return err
				}
				if err := stream.SendMsg(&response); err != nil {
					return err
				}
			}
		}}},
	}, struct{}{})
	go func() {
		if err := server.Serve(listening); err != nil {
			fail(err)
		}
	}()
	fmt.Println(listening.Addr())
	for input.Scan() {
		fmt.Println(cpu())
	}
}

// echo opens connections that each send a message, wait for the answer and send the next.
func echo(arguments []string) {
	flags := flag.NewFlagSet("echo", flag.ExitOnError)
	address := flags.String("address", "", "of the server")
	streams := flags.Int("streams", 1, "connections")
	size := flags.Int("request", 64, "bytes of a message")
	seconds := flags.Float64("seconds", 2, "of the measurement")
	parsed(flags, arguments)
	all, connected := &trips{}, make(chan struct{})
	for range *streams {
		go func() {
			stream, err := dial(*address).NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method, grpc.ForceCodec(raw{}))
			if err != nil {
				fail(err)
			}
			request, response := make([]byte, *size), []byte{}
			for number := 0; ; number++ {
				began := time.Now()
				if err := stream.SendMsg(&request); err != nil {
					fail(err)
				}
				if err := stream.RecvMsg(&response); err != nil {
					fail(err)
				}
				all.add([]time.Duration{time.Since(began)}, len(response))
				if number == 20 {
					connected <- struct{}{}
				}
			}
		}()
	}
	for range *streams {
		<-connected
	}
	fmt.Println("connected")
	input.Scan()
	all.measure(*seconds, 0)
	input.Scan()
}
