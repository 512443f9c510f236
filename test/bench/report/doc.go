// Package report puts together what the bench has measured: the statistics, the
// bars that Levee has to reach, a page of Markdown and a chart.
package report
