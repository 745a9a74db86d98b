import type { AnalyserLanguage } from './languages.ts'

const LATIN = 'abcdefghijklmnopqrstuvwxyz'
/** What a language writes besides the 26 letters, or in their place. Others are corrected as far as these go. */
const MORE_LETTERS: Partial<Record<AnalyserLanguage, string>> = {
  danish: 'æøå',
  finnish: 'äö',
  french: 'àâçéèêëîïôùûœ',
  german: 'äöüß',
  italian: 'àèéìòù',
  norwegian: 'æøå',
  portuguese: 'àáâãçéêíóôõú',
  russian: 'абвгдежзийклмнопрстуфхцчшщъыьэюяё',
  spanish: 'áéíñóúü',
  swedish: 'äöå',
}

/** The words from which one typing error makes `word`: a letter missing, too many, wrong, or two exchanged. */
export function respellingsOf(word: string, language: AnalyserLanguage): Set<string> {
  const more = MORE_LETTERS[language] ?? ''
  const letters = [...(language === 'russian' ? more : LATIN + more)]
  const words = new Set<string>()
  for (let at = 0; at <= word.length; at++) {
    const [start, rest] = [word.slice(0, at), word.slice(at)]
    const behind = rest.slice(1)
    for (const letter of letters) words.add(start + letter + rest)
    if (rest === '') break
    for (const letter of letters) words.add(start + letter + behind)
    words.add(start + behind)
    if (behind !== '') words.add(start + behind.charAt(0) + rest.charAt(0) + behind.slice(1))
  }
  words.delete(word)
  return words
}
