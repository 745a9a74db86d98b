/** Abbreviations whose full stop does not end a sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|approx|bzw|ca|cf|co|dr|e\.g|eq|fig|i\.e|inc|jr|ltd|mr|mrs|ms|no|nr|pp|prof|sr|st|vol|vs|z\.b)\.\s*$/iu

const MAX_ABBREVIATION = 12

/** An ordinal of German, behind an article or a preposition: `am 31. März`, `im 2. Stock`. */
const ORDINAL = /(?<!\p{L})(?:am|beim|das|de[mnrs]|die|im|vom|zu[mr])\s\d{1,2}\.\s*$/iu
const DAY = /(?<![\p{L}\p{N}.,])\d{1,2}\.\s*$/u
const MONTH =
  /^(?:Jan|Jän|Feb|März|Apr|Mai|Juni|Juli|Aug|Sept|Okt|Nov|Dez)(?:uar|ner|ruar|il|ust|ember|ober)?(?!\p{L})/u

let segmenter: Intl.Segmenter | undefined

/** Cuts a paragraph, whose lines are joined by spaces, after each sentence; together the parts are the paragraph. */
export function segmentSentences(paragraph: string): string[] {
  const sentences: string[] = []
  let open = ''
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'sentence' })
  for (const { segment } of segmenter.segment(paragraph)) {
    if (open !== '' && !goesOn(open.slice(-MAX_ABBREVIATION), segment)) {
      sentences.push(open)
      open = ''
    }
    open += segment
  }
  return open === '' ? sentences : [...sentences, open]
}

/** Whether the full stop at the end of a part ends no sentence. */
const goesOn = (end: string, next: string) =>
  ABBREVIATION.test(end) || ORDINAL.test(end) || (DAY.test(end) && MONTH.test(next))
