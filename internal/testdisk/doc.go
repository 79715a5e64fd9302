// Package testdisk gives tests a disk of their own that can be filled.
package testdisk
