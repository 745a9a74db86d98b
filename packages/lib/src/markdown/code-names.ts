/** Maximum UTF-16 code units of a name that are examined. */
const MAX_NAME = 40
/** Matches names of code and LaTeX, with the indexes behind them, as in `a[3]`, `row_sum[0][1]` or `\sqrt[3]`. */
const CODE_NAME = /(?:(?:^|[^\p{L}\p{N}_])(?:[a-z]|\w*_\w*)|\\[a-zA-Z]+)(?:\[\d{1,3}\])*$/u

/** How a name ends, or an index behind it: asked first, as most brackets follow something else. */
const NAME_END = /[\w\]]/

/** Whether brackets behind a text are an index of code, and no citation. */
export function endsInCodeName(text: string): boolean {
  return NAME_END.test(text.charAt(text.length - 1)) && CODE_NAME.test(text.slice(-MAX_NAME))
}
