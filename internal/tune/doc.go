// Package tune finds search defaults of a collection that suit its labelled
// queries, and how far to trust an answer.
//
// The real search service answers every query under every setting. What the
// models say is kept: each text is encoded once, each pair scored once and each
// ranking of a branch retrieved once, so that a setting costs what it asks for
// that is new.
//
// Queries are split into those that settings are chosen by and those held out.
// Only the latter say whether a gain is one.
package tune
