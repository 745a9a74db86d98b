/** Words that label totals in many languages, in lower case. */
const TOTALS =
  `total|totals|grand total|subtotal|subtotals|sub-total|sub total|sum|overall|in total|all together|summe|gesamt|gesamtsumme|insgesamt|
zwischensumme|teilsumme|endsumme|summe gesamt|totale|subtotale|somme|sous-total|total général|suma|total general|totaal|
subtotaal|soma|totalt|delsumma|summa|i alt|sum i alt|yhteensä|razem|ogółem|celkem|mezisoučet|összesen|részösszeg|итого|всего|
промежуточный итог|toplam|ara toplam|σύνολο`
    .split('|')
    .map((label) => label.trim())
const MEANS =
  'average|avg|avg.|mean|durchschnitt|mittelwert|mittel|ø|moyenne|promedio|media|gemiddelde|medelvärde|średnia|среднее'.split(
    '|',
  )
/** Written without blanks between words. */
const JOINED = '合計|小計|総計|总计|合计|小计|합계|소계|المجموع'

const escaped = (words: readonly string[]) =>
  words.map((word) => word.replaceAll('.', '\\.')).join('|')
const WORDS = `(?:${escaped([...TOTALS, ...MEANS])})`

/**
 * Matches a text, in lower case and trimmed, that begins or ends with such a word: `Subtotal A`, `North Total:`. A regular
 * expression with the same meaning in DuckDB and JavaScript.
 */
export const TOTAL_LABEL = `^${WORDS}(?:[^\\p{L}].*)?$|^.*[^\\p{L}]${WORDS} ?:?$|^(?:${JOINED})|(?:${JOINED})$`

const LABEL = new RegExp(TOTAL_LABEL, 'u')
const MEAN = new RegExp(`(?:^|[^\\p{L}])(?:${escaped(MEANS)})(?:$|[^\\p{L}])`, 'u')

export const isTotalLabel = (text: string) => LABEL.test(text.toLowerCase())
export const isMeanLabel = (text: string) => MEAN.test(text.toLowerCase())
