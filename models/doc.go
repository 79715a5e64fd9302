// Package models keeps model artefacts: which files a model consists of, what
// its graph reads and writes, and whether the files on disk are those.
//
// A model is a folder with a manifest.yaml beside its files; a root folder
// holds one such folder per model, named like the model. The catalogue, built
// into the program, has the manifests of the models that set-up installs.
// A model of one's own is the same thing: a folder with a manifest.
//
// Invariants:
//   - Open returns a model only after every file had the size and SHA-256 its
//     manifest gives. What happens to the files afterwards is not watched.
//   - No path of a manifest, symbolic links included, leads out of its folder.
//   - A folder in a root is whole or absent: Install writes beside it and
//     renames.
//   - Equal digests mean that the same files run under the same settings, so
//     that vectors can be compared.
//
// The package neither reads a graph or tokenizer (detect does) nor runs one
// (inference does), and it fetches nothing (hub and set-up do).
package models
