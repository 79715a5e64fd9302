package bench

import "fmt"

func (d *document) answers(r *Report) {
	if len(r.Answers) == 0 {
		return
	}
	d.table("How good the answers are", "corpus", "contender", "work", "judged queries", "nDCG@10", "against braid's whole work ± standard error")
	for _, a := range r.Answers {
		d.row(a.Corpus, a.Contender, a.Work, fmt.Sprint(a.Queries), fmt.Sprintf("%.4f", a.NDCG), fmt.Sprintf("%+.4f ± %.4f", a.Difference, a.Error))
	}
}

func (d *document) firstAnswers(r *Report) {
	if len(r.FirstAnswers) == 0 {
		return
	}
	d.table("From the start of the process to the first answer, reranked", "corpus", "contender", "seconds")
	for _, f := range r.FirstAnswers {
		d.row(f.Corpus, f.Contender, fmt.Sprintf("%.1f", f.Seconds))
	}
}
