// Command ablation measures what each idea of the search is worth: nDCG@10 and
// milliseconds of the defaults, and of the defaults with one thing changed.
//
// A row is a request. The queries of test collections go to a real server over HTTP,
// one at a time; each is asked in all ways, in random order, before the next, so that
// whatever else the machine does hits all ways alike. Nothing is kept between
// searches, neither by the server nor here.
//
//	make build
//	go run ./bench/ablation prepare                       # stores the collections, once
//	go run ./bench/ablation -out OUT                      # OUT.json and OUT.md
//	go run ./bench/ablation -out OUT -times 11m           # only times and budgets anew
//
// The collections, and answers asked already by the same program, are kept in
// .local/bench/ablation/KEY, where other models make another KEY: a run that was
// stopped goes on, and new models encode anew.
package main
