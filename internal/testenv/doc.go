// Package testenv gives tests the real models that set-up installed. It is
// imported by tests only.
//
// ONNX Runtime exists once a process, so a test binary opens it once, in
// TestMain, and shares the heads among its tests.
package testenv
