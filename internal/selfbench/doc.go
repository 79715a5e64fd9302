// Package selfbench measures, in about a minute, what the machine it runs on does
// with the models of a process: the stages of searches in a small collection of its
// own, tokens a second by the number of model runs at once, and passages a second by
// the number of texts a call. Run's Report recommends settings by these figures.
//
// Texts are made up, of common words and with a fixed seed: times depend on their
// lengths only. Figures are of this moment on this machine; other work on it counts.
package selfbench
