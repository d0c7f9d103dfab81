package client

import (
	"path/filepath"
	"reflect"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	arenav1 "arena.example/client/v1"
)

// Each protocol file names the Go package of its code, so an author's own protos share this copy. A program with a
// second copy would panic.
func TestTheProtocolNamesItsPackage(t *testing.T) {
	files, err := filepath.Glob("../../proto/arena/v1/*.proto")
	if err != nil || len(files) < 10 {
		t.Fatalf("the protocol has the files %v (%v)", files, err)
	}
	wanted := reflect.TypeFor[arenav1.Decision]().PkgPath() + ";arenav1"
	for _, file := range files {
		found, err := protoregistry.GlobalFiles.FindFileByPath("arena/v1/" + filepath.Base(file))
		if err != nil {
			t.Fatal(err)
		}
		if named := protoreflect.FileDescriptor(found).Options().(*descriptorpb.FileOptions).GetGoPackage(); named != wanted {
			t.Errorf("%s names %s, not %s", file, named, wanted)
		}
	}
}
