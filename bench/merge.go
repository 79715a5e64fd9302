package bench

import (
	"slices"
	"strings"
)

// Merge puts reports of runs on one machine, of which there is at least one, into
// one, in their order. Each keeps its comparisons; what only some runs left out
// is not counted as left out.
func Merge(reports ...*Report) *Report {
	all := *reports[0]
	all.NotRun = nil
	all.Texts = map[string]Tokens{}
	var commits, corpora []string
	all.Parts, all.Comparisons, all.Agreements, all.Memory = nil, nil, nil, nil
	all.Saturations, all.Stages, all.Soak, all.FirstAnswers, all.Answers = nil, nil, nil, nil, nil
	for _, r := range reports {
		commits, corpora = once(commits, r.Commit), once(corpora, r.Corpus)
		for _, p := range r.Parts {
			p.Name += " (" + r.Corpus + ")"
			all.Parts = append(all.Parts, p)
		}
		for name, t := range r.Texts {
			all.Texts[name] = t
		}
		all.Comparisons = append(all.Comparisons, r.Comparisons...)
		all.Agreements = append(all.Agreements, r.Agreements...)
		all.Memory = append(all.Memory, r.Memory...)
		all.Saturations = append(all.Saturations, r.Saturations...)
		all.Stages = append(all.Stages, r.Stages...)
		all.Soak = append(all.Soak, r.Soak...)
		all.FirstAnswers = append(all.FirstAnswers, r.FirstAnswers...)
		all.Answers = append(all.Answers, r.Answers...)
		if all.IdleShare == nil {
			all.IdleShare = r.IdleShare
		}
	}
	for _, what := range reports[0].NotRun {
		everywhere := func(r *Report) bool { return slices.Contains(r.NotRun, what) }
		if !slices.ContainsFunc(reports, func(r *Report) bool { return !everywhere(r) }) {
			all.NotRun = append(all.NotRun, what)
		}
	}
	all.Commit, all.Corpus = strings.Join(commits, ", "), strings.Join(corpora, ", ")
	return &all
}

func once(list []string, value string) []string {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}
