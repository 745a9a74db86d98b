/** Abbreviations whose full stop does not end a sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|approx|bzw|ca|cf|co|dr|e\.g|eq|fig|i\.e|inc|jr|ltd|mr|mrs|ms|no|nr|pp|prof|sr|st|vol|vs|z\.b)\.\s*$/iu

const MAX_ABBREVIATION = 12

let segmenter: Intl.Segmenter | undefined

/** Cuts a paragraph, whose lines are joined by spaces, after each sentence; together the parts are the paragraph. */
export function segmentSentences(paragraph: string): string[] {
  const sentences: string[] = []
  let open = ''
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'sentence' })
  for (const { segment } of segmenter.segment(paragraph)) {
    open += segment
    if (ABBREVIATION.test(open.slice(-MAX_ABBREVIATION))) continue
    sentences.push(open)
    open = ''
  }
  return open === '' ? sentences : [...sentences, open]
}
