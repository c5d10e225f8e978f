import type { Mutant } from "./mutant.js";

/** Bugs in the report. */
export const report: readonly Mutant[] = [
  // report
  {
    what: "with an even number of runs the faster of the two middle runs is the median run",
    file: "report/statistics/runs.py",
    find: "(len(ranked) - 1) // 2",
    replace: "len(ranked) // 2",
    test: "test/report/statistics/test_runs.py",
  },
  {
    what: "an invalid run can be the median run",
    file: "report/statistics/runs.py",
    find: "if (run.eligible or run.spoiled) and run.requests_per_second is not None",
    replace: "if run.requests_per_second is not None",
    test: "test/report/statistics/test_runs.py",
  },
  {
    what: "the median run is selected by the throughput of runs in which the target failed its load",
    file: "report/statistics/runs.py",
    find: "(0.0 if run.spoiled else run.requests_per_second, run.run, run)",
    replace: "(run.requests_per_second, run.run, run)",
    test: "test/report/test_failing_target.py",
  },
  {
    what: "a run in which the target failed its load is compared by its figure instead of as the worst",
    file: "report/analysis/summary.py",
    find: "figure.worst if run.spoiled else figure.compared(run.measured))",
    replace: "figure.compared(run.measured))",
    test: "test/report/test_failing_target.py",
  },
  {
    what: "a percentile is one rank too low",
    file: "report/statistics/histograms.py",
    find: "np.ceil(exact - np.spacing(exact))",
    replace: "np.floor(exact)",
    test: "test/report/statistics/test_histograms.py",
  },
  {
    what: "the interval of a median is one figure too narrow on each side",
    file: "report/statistics/median.py",
    find: "ordered[rank - 1], ordered[n - rank]",
    replace: "ordered[rank], ordered[n - rank - 1]",
    test: "test/report/statistics/test_median.py",
  },
  {
    what: "comparisons are not corrected for their number",
    file: "report/statistics/decision.py",
    find: "p_holm=p_holm, comparisons=family)",
    replace: "p_holm=measured[index].p, comparisons=family)",
    test: "test/report/statistics/test_decision.py",
  },
  {
    what: "a ratio compares the new side with itself",
    file: "report/statistics/ratio.py",
    find: "np.array(new)[:, None], np.array(base)[None, :]",
    replace: "np.array(new)[:, None], np.array(new)[None, :]",
    test: "test/report/statistics/test_decision.py",
  },
  {
    what: "a run is paired with the reference of another round",
    file: "report/statistics/samples.py",
    find: "(one[place], other[place])",
    replace: "(one[place], other[common[-1]])",
    test: "test/report/statistics/test_signed_rank.py",
  },
  {
    what: "claims of no difference are not corrected for their number",
    file: "report/statistics/decision.py",
    find: "p_equal_holm=p_equal_holm)",
    replace: "p_equal_holm=measured[index].p_equal)",
    test: "test/report/statistics/test_signed_rank.py",
  },
  {
    what: "runs of the burn-in round count",
    file: "report/results/model.py",
    find: "return self.run == 0",
    replace: "return self.run < 0",
    test: "test/report/analysis/test_references.py",
  },
  {
    what: "a winner is named though the copy was told apart",
    file: "report/analysis/rankings.py",
    find: "if self.resolution and self.resolution.told_apart:",
    replace: "if self.resolution and not self.resolution:",
    test: "test/report/analysis/test_references.py",
  },
  {
    what: "a cell that starts with = becomes a formula in the CSV",
    file: "report/base/csv_text.py",
    find: '_FORMULA = ("=", "+",',
    replace: '_FORMULA = ("+",',
    test: "test/report/export/test_summary_csv.py",
  },
  {
    what: "the page does not escape text from results",
    file: "report/html/template.py",
    find: "select_autoescape(default=True, default_for_string=True)",
    replace: "False",
    test: "test/report/html/test_page.py",
  },
];
