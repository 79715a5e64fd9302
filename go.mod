module github.com/braid-search/braid

go 1.26

require (
	github.com/daulet/tokenizers v1.22.1 // indirect
	github.com/yalue/onnxruntime_go v1.27.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
