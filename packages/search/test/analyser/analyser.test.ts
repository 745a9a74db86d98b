import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type ChunkText, createAnalyser } from '../../src/analyser/analyser.ts'
import { ANALYSER_LANGUAGES, type AnalyserLanguage } from '../../src/analyser/languages.ts'

function termsOf(text: string, language: AnalyserLanguage = 'english'): Set<number> {
  return new Set(createAnalyser(language).query(text).terms)
}

/** The terms of one chunk. */
function analyse(chunk: ChunkText, language: AnalyserLanguage = 'english') {
  const { terms, counts, lengths } = createAnalyser(language).batch([chunk])
  return { terms, counts, length: lengths[0] }
}

function matches(query: string, text: string, language?: AnalyserLanguage): boolean {
  const held = analyse({ heading: '', text }, language).terms
  return termsOf(query, language)
    .values()
    .every((term) => held.includes(term))
}

const sizes = (text: string, language?: AnalyserLanguage) => termsOf(text, language).size

describe('The analyser', () => {
  it('hashes the stem of a term, so that all indexes use the same number', () => {
    expect([...termsOf('Wings')]).toEqual([crc32('wing')])
    expect([...termsOf('Wings', 'none')]).toEqual([crc32('wings')])
  })

  it.each([
    ['in another case', 'WING', 'a wing'],
    ['in another form', 'connected connection', 'connecting connections'],
    ['in full width', 'ＷＩＮＧ', 'wing'],
    ['with a ligature', 'ﬁlm', 'film'],
    ['with a soft hyphen', 'cooperate', 'co\u00adoperate'],
    ['with marks composed or not', 'café', 'cafe\u0301'],
    ['without the marks that English may leave out', 'Schrodinger', 'Schrödinger'],
    ['as a unit sign', '5 kg', '5 ㎏'],
    ['as a possessive', 'king', "the King's"],
    ['with a typographic apostrophe', "o'brien", 'O’Brien'],
    ['between other signs', 'retry', 'run --retry=3'],
  ])('finds a word %s', (_case, query, text) => {
    expect(sizes(query)).toBeGreaterThan(0)
    expect(matches(query, text)).toBe(true)
  })

  it.each([
    ['no word', ' \t\n.,;:!?—…"„“()[]{}<>=+*/\\|@#$%^&~`'],
    ['nothing', ''],
    ['stop words alone', "The it's, and don't we’ll CANNOT isn’t of"],
    ['signs and pictures', '👍🏽 ☃ ← ∑'],
    ['halves of characters', '\ud800 \udc00 \ud800\ud800'],
    ['marks without a letter', '\u0301\u0308'],
  ])('finds nothing to search for in %s', (_case, text) => {
    expect(sizes(text)).toBe(0)
    const { length, terms } = analyse({ heading: '', text })
    expect({ length, terms: terms.length }).toEqual({ length: 0, terms: 0 })
  })

  it('keeps words whole that hold numbers, and splits at signs', () => {
    expect(sizes('b2b')).toBe(1)
    expect(sizes('snake_case')).toBe(2)
    expect(sizes('3.14')).toBe(2)
    expect(sizes('हिन्दी')).toBe(1)
  })

  it('counts a title and its headings twice, and their lengths alike', () => {
    const { terms, counts, length } = analyse({
      title: 'wing',
      heading: 'lift > drag',
      text: 'drag of the wing',
    })
    const countOf = (word: string) => counts[terms.indexOf(crc32(word))]
    expect({ wing: countOf('wing'), lift: countOf('lift'), drag: countOf('drag'), length }).toEqual(
      {
        wing: 3,
        lift: 2,
        drag: 3,
        length: 8,
      },
    )
  })

  it('gives terms ascending and distinct, counts of 255 at most and lengths beyond', () => {
    const text = `${'often '.repeat(1_000)} once twice twice`
    const { terms, counts, length } = analyse({ heading: '', text }, 'none')
    expect([...terms]).toEqual([...new Set(terms)].toSorted((a, b) => a - b))
    expect([...counts].toSorted((a, b) => a - b)).toEqual([1, 2, 255])
    expect(length).toBe(1_003)
  })

  it('arranges the chunks of a batch one after another', () => {
    const analyser = createAnalyser('english')
    const chunks = ['wing lift', '', 'drag'].map((text) => ({ heading: '', text }))
    const batch = analyser.batch(chunks)
    expect({ size: batch.size, lengths: [...batch.lengths], offsets: [...batch.offsets] }).toEqual({
      size: 3,
      lengths: [2, 0, 1],
      offsets: [0, 2, 2, 3],
    })
    chunks.forEach((chunk, i) => {
      const { terms } = analyse(chunk)
      expect(batch.terms.slice(batch.offsets[i], batch.offsets[i + 1])).toEqual(terms)
    })
    expect(analyser.batch([])).toMatchObject({ size: 0, offsets: Uint32Array.of(0) })
  })

  it('counts how often a query asks for a term', () => {
    const { terms, counts } = createAnalyser('english').query('lift wing wings')
    expect(Object.fromEntries(Array.from(terms, (term, i) => [term, counts[i]]))).toEqual({
      [crc32('lift')]: 1,
      [crc32('wing')]: 2,
    })
  })

  it('uses the first thousand terms of a query', () => {
    const words = Array.from({ length: 5_000 }, (_, i) => `w${i}`)
    expect(sizes(words.join(' '))).toBe(1_000)
  })

  it('has a fingerprint of its own for each language', () => {
    const fingerprints = ANALYSER_LANGUAGES.map((language) => createAnalyser(language).fingerprint)
    expect(new Set(fingerprints).size).toBe(ANALYSER_LANGUAGES.length)
  })
})

describe('The languages of the analyser', () => {
  it.each<[AnalyserLanguage, string, string]>([
    ['arabic', 'كتاب', 'الكتاب'],
    ['armenian', 'քաղաք', 'քաղաքներ'],
    ['basque', 'mendi', 'mendietan'],
    ['catalan', 'casa', "d'una casa cases"],
    ['czech', 'hrad', 'hradu'],
    ['danish', 'hus', 'huset'],
    ['dutch', 'boek', 'boeken'],
    ['english', 'run', 'running'],
    ['finnish', 'talo', 'talossa'],
    ['french', 'avion', "l'avion des avions"],
    ['german', 'Straßen', 'STRASSEN Straße'],
    ['german', 'Gebäude', 'des Gebaeudes'],
    ['german', 'Oelpreis Muenchen', 'Ölpreise in München'],
    ['german', 'Bauer Quelle Statue Duell', 'Bauern Quellen Statuen Duelle'],
    ['hungarian', 'ház', 'házban'],
    ['irish', 'bád', 'an bhád'],
    ['italian', 'arte', "dell'arte"],
    ['norwegian', 'bok', 'boken'],
    ['portuguese', 'livro', 'livros'],
    ['romanian', 'carte', 'cartea'],
    ['russian', 'книга', 'книгами'],
    ['slovene', 'knjiga', 'knjigami'],
    ['spanish', 'libro', 'libros'],
    ['swedish', 'bok', 'boken'],
    ['tamil', 'வீடு', 'வீடுகள்'],
    ['turkish', 'Ankara', "ANKARA'DA"],
  ])('find a word of %s in another form', (language, query, text) => {
    expect(matches(query, text, language)).toBe(true)
  })

  it('all but tamil and none drop stop words', () => {
    const samples = {
      arabic: 'في',
      armenian: 'այս',
      basque: 'eta',
      catalan: 'amb',
      czech: 'který',
      danish: 'og',
      dutch: 'het',
      english: 'the',
      finnish: 'ja',
      french: 'avec',
      german: 'und',
      hungarian: 'hogy',
      irish: 'agus',
      italian: 'che',
      norwegian: 'og',
      portuguese: 'que',
      romanian: 'pentru',
      russian: 'что',
      slovene: 'tudi',
      spanish: 'como',
      swedish: 'och',
      turkish: 'için',
    } satisfies Partial<Record<AnalyserLanguage, string>>
    for (const language of ANALYSER_LANGUAGES) {
      if (language === 'tamil' || language === 'none') continue
      expect([language, sizes(samples[language], language)]).toEqual([language, 0])
    }
    expect(sizes('the', 'none')).toBe(1)
  })

  it('write a lower-case I as their alphabet has it', () => {
    expect(matches('ışık', 'IŞIK', 'turkish')).toBe(true)
    expect(matches('istanbul', 'İSTANBUL', 'turkish')).toBe(true)
  })

  it('drop elided articles and contracted verbs, but no letter that stands alone', () => {
    expect(sizes("l'avion", 'french')).toBe(1)
    expect(sizes("they've")).toBe(0)
    expect(sizes("king's")).toBe(1)
    expect(sizes('vitamin D')).toBe(2)
  })
})

describe('Scripts without spaces', () => {
  it.each([
    ['Chinese', '机器学习', '我们研究机器学习和统计学'],
    ['Japanese', '全文検索', 'SQLiteの全文検索エンジンです。'],
    ['Katakana in half width', 'データ', 'ﾃﾞｰﾀを保存'],
    ['Korean', '검색', '한국어 검색엔진'],
    ['a rare Han character of two code units', '𠮷野', '𠮷野家'],
    ['one Han character', '茶', '日本茶を飲む'],
    ['Thai', 'ภาษา น้ำ', 'ภาษาไทยน้ำเป็น'],
    ['Lao', 'ພາສາ', 'ຂ້ອຍຮັກພາສາລາວ'],
    ['Khmer', 'ស្រលាញ់', 'ខ្ញុំស្រលាញ់ភាសាខ្មែរ'],
    ['Burmese', 'မြန်မာ', 'မြန်မာစာကို'],
  ])('are searched by their words: %s', (_case, query, text) => {
    expect(sizes(query)).toBeGreaterThan(0)
    expect(matches(query, text)).toBe(true)
  })

  it('do not match words that only share characters in another order', () => {
    expect(matches('习学', '机器学习')).toBe(false)
    expect(matches('京東', '東京')).toBe(false)
  })

  it('count as long as their pairs are many, though each character is found, too', () => {
    const { terms, length } = analyse({ heading: '', text: '東京都民' }, 'none')
    expect({ terms: terms.length, length }).toEqual({ terms: 3 + 4, length: 3 })
  })
})
