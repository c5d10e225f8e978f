import type { Mutant } from "./mutant.js";

/** Bugs in the report. */
export const report: readonly Mutant[] = [
  // scripts/report
  {
    what: "of an even number of runs the faster one of the middle stands for all",
    file: "scripts/report/stats.py",
    find: "(len(ranked) - 1) // 2",
    replace: "len(ranked) // 2",
    test: "test/report/test_stats.py",
  },
  {
    what: "invalid runs take part in the choice of the median run",
    file: "scripts/report/stats.py",
    find: "if run.eligible and run.requests_per_second is not None",
    replace: "if run.requests_per_second is not None",
    test: "test/report/test_stats.py",
  },
  {
    what: "a percentile is one rank too low",
    file: "scripts/report/stats.py",
    find: "rank = max(1, math.ceil(exact - math.ulp(exact)))",
    replace: "rank = max(1, math.floor(exact))",
    test: "test/report/test_stats.py",
  },
  {
    what: "the interval of a median leaves out one figure on each side",
    file: "scripts/report/inference/median.py",
    find: "ordered[rank - 1], ordered[n - rank]",
    replace: "ordered[rank], ordered[n - rank - 1]",
    test: "test/report/test_intervals.py",
  },
  {
    what: "comparisons of one table are not corrected for their number",
    file: "scripts/report/inference/decide.py",
    find: "p_holm=p_holm, comparisons=family)",
    replace: "p_holm=measured[index].p, comparisons=family)",
    test: "test/report/test_decide.py",
  },
  {
    what: "a ratio is of the new side to itself",
    file: "scripts/report/inference/ratio.py",
    find: "np.log(np.array(new)), np.log(np.array(base))",
    replace: "np.log(np.array(new)), np.log(np.array(new))",
    test: "test/report/test_decide.py",
  },
  {
    what: "a cell that starts with = is a formula in the CSV",
    file: "scripts/report/csv_text.py",
    find: '_FORMULA = ("=", "+",',
    replace: '_FORMULA = ("+",',
    test: "test/report/test_export.py",
  },
  {
    what: "the page does not escape what results hold",
    file: "scripts/report/page.py",
    find: "select_autoescape(default=True, default_for_string=True)",
    replace: "False",
    test: "test/report/test_page.py",
  },
];
