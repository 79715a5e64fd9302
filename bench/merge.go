package bench

import (
	"slices"
	"strings"
)

// Merge puts reports of runs on one machine, of which there is at least one, into
// one, in their order. Each keeps its comparisons; a part that one run was not
// asked for and another ran is not left out.
func Merge(reports ...*Report) *Report {
	all := &Report{Taken: reports[0].Taken, Machine: reports[0].Machine, Models: reports[0].Models, Settings: reports[0].Settings, Texts: map[string]Tokens{}}
	var commits, corpora, ran []string
	for _, r := range reports {
		commits, corpora = once(commits, r.Commit), once(corpora, r.Corpus)
		for _, p := range r.Parts {
			ran = append(ran, unasked+p.Name)
			p.Name += " (" + r.Corpus + ")"
			all.Parts = append(all.Parts, p)
		}
		for name, t := range r.Texts {
			all.Texts[name] = t
		}
		all.add(r)
	}
	for _, r := range reports {
		for _, what := range r.NotRun {
			if !slices.Contains(ran, what) {
				all.NotRun = once(all.NotRun, what)
			}
		}
	}
	all.Commit, all.Corpus = strings.Join(commits, ", "), strings.Join(corpora, ", ")
	return all
}

// add puts the rows that r measured after all's own.
func (all *Report) add(r *Report) {
	all.Comparisons = append(all.Comparisons, r.Comparisons...)
	all.Agreements = append(all.Agreements, r.Agreements...)
	all.Memory = append(all.Memory, r.Memory...)
	all.Saturations = append(all.Saturations, r.Saturations...)
	all.Stages = append(all.Stages, r.Stages...)
	all.Lengths = append(all.Lengths, r.Lengths...)
	all.Loads = append(all.Loads, r.Loads...)
	all.Charts = append(all.Charts, r.Charts...)
	all.Generation = append(all.Generation, r.Generation...)
	all.AtOnce = append(all.AtOnce, r.AtOnce...)
	all.Soak = append(all.Soak, r.Soak...)
	all.FirstAnswers = append(all.FirstAnswers, r.FirstAnswers...)
	all.Answers = append(all.Answers, r.Answers...)
	all.Savings = append(all.Savings, r.Savings...)
	if all.IdleShare == nil {
		all.IdleShare = r.IdleShare
	}
}

func once(list []string, value string) []string {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}
