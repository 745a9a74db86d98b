/** Answers numbers from 0 up to, not including, `below`; the same for the same seed (mulberry32). */
export type Random = (below: number) => number

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** What Markdown, prose of many scripts and broken input are made of, to be thrown together. */
const SCRAPS = [
  'word ',
  'a longer stretch of words that goes on for a while ',
  'It ends here. ',
  'Dr. Smith paid 3.14 on p. 7. ',
  '"Why?" he asked! ',
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  '\t',
  '    ',
  '# Heading\n',
  '\n## Deeper *heading* ##\n',
  'Title\n=====\n',
  'Title\n---\n',
  '---\n',
  '- item\n',
  '  - nested item\n',
  '12. numbered\n',
  '> quoted\n',
  '>>> > - # ',
  '```js\nconst a = 1\n```\n',
  '```\n',
  '~~~\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n',
  '| row |\n',
  '第一句話。第二句話！',
  '中文没有空格也没有标点的一段很长的文字',
  'ภาษาไทยไม่มีการเว้นวรรคระหว่างคำ',
  'שלום עולם. ',
  'مرحبا بالعالم؟ ',
  'यह एक वाक्य है। ',
  '👩‍👩‍👧‍👦',
  '🇩🇪🇫🇷',
  'e\u0301\u0302\u0303',
  '\ufeff',
  '\u00a0',
  '\u2028',
  '\0',
  '\ud83d',
  '\ude00',
  'x'.repeat(700),
  ' '.repeat(900),
  '\n'.repeat(50),
  '<div>',
  '[link](https://example.org/a_b)',
]

/** Up to `length` scraps; each text is made of a few kinds of scrap, as real ones are. */
export function randomText(random: Random, length: number): string {
  const kinds = Array.from({ length: 1 + random(8) }, () => SCRAPS[random(SCRAPS.length)] ?? '')
  return Array.from({ length: random(length) }, () => kinds[random(kinds.length)]).join('')
}
