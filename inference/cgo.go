package inference

// libtokenizers.a is built by set-up from the tokenizers module's own source
// into .local/lib. libonnxruntime is not linked: Open loads it by path.

// #cgo LDFLAGS: -L${SRCDIR}/../.local/lib
import "C"
