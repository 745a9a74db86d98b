import type { MarkedExtension } from 'marked'

const LABEL = String.raw`\[\^([\p{L}\p{N}_-]{1,40})\]`
/** Of a link, which a citation is not: `[1]: https://…` below an answer tells where its source is. */
const NUMBERED = /^ {0,3}\[(?:\d{1,3}|\^[^\]]+)\]:/
const MARK = new RegExp(`^${LABEL}(?!:)`, 'u')
/** A note, with the lines that go on with it. */
const NOTE = new RegExp(String.raw`^ {0,3}${LABEL}:[ \t]+(.*(?:\n {2,}\S.*)*)(?:\n+|$)`, 'u')

/** Footnotes within an answer, `[^1]` and `[^1]: …`. They are lettered, since citations are numbered. */
export function footnotes(): MarkedExtension {
  return {
    extensions: [
      {
        name: 'noteMark',
        level: 'inline',
        start: (text) => placeOf('[^', text),
        tokenizer(text) {
          const [raw, label] = MARK.exec(text) ?? []
          return raw ? { type: 'noteMark', raw, label } : undefined
        },
        renderer: ({ label }) => `<sup class="note-mark">${label}</sup>`,
      },
      {
        name: 'note',
        level: 'block',
        start: (text) => placeOf('\n[^', text),
        tokenizer(text) {
          const [raw, label, note = ''] = NOTE.exec(text) ?? []
          if (!raw) return undefined
          const tokens = this.lexer.inlineTokens(note.replaceAll(/\n\s+/g, '\n'))
          return { type: 'note', raw, label, tokens }
        },
        renderer({ label, tokens = [] }) {
          return `<p class="note-text"><sup>${label}</sup> ${this.parser.parseInline(tokens)}</p>\n`
        },
      },
    ],
    tokenizer: {
      def: (text) => (NUMBERED.test(text) ? undefined : false),
    },
  }
}

function placeOf(sign: string, text: string): number | undefined {
  const place = text.indexOf(sign)
  return place === -1 ? undefined : place
}

/** Gives the notes of a drawn answer their letters; a mark leads to its note, and stays as written where there is none. */
export function linkFootnotes(root: DocumentFragment): void {
  const notes = new Map<string, HTMLElement>()
  for (const sign of root.querySelectorAll<HTMLElement>('.note-text > sup:first-child')) {
    const label = sign.textContent ?? ''
    if (!sign.parentElement || notes.has(label)) continue
    sign.textContent = letterOf(notes.size)
    sign.parentElement.tabIndex = -1
    notes.set(label, sign.parentElement)
  }
  for (const mark of root.querySelectorAll<HTMLElement>('.note-mark')) {
    const label = mark.textContent ?? ''
    const note = notes.get(label)
    if (note) mark.replaceChildren(buttonTo(note, mark))
    else mark.replaceWith(`[^${label}]`)
  }
}

const letterOf = (place: number) => String.fromCodePoint(97 + (place % 26)).repeat(place / 26 + 1)

function buttonTo(note: HTMLElement, mark: HTMLElement): HTMLButtonElement {
  const letter = note.firstElementChild?.textContent ?? ''
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'note-link'
  button.textContent = letter
  button.setAttribute('aria-label', `Note ${letter}`)
  // What is redrawn while the answer grows may be another element with the same letter.
  button.addEventListener('click', () => {
    const answer = mark.closest('.answer')
    const signs = answer?.querySelectorAll<HTMLElement>('.note-text > sup:first-child') ?? []
    const target = Array.from(signs).find(({ textContent }) => textContent === letter)
    target?.parentElement?.focus()
  })
  return button
}
