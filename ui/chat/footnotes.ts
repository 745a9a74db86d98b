/** Gives drawn notes their letters; a mark leads to its note, and stays as written where there is none. */
export function linkFootnotes(root: DocumentFragment, letters: ReadonlyMap<string, string>): void {
  const drawn = new Set<string>()
  for (const sign of root.querySelectorAll<HTMLElement>('.note-text > sup:first-child')) {
    const label = sign.textContent ?? ''
    const letter = letters.get(label)
    if (!sign.parentElement || letter === undefined || drawn.has(label)) continue
    drawn.add(label)
    sign.textContent = letter
    sign.parentElement.tabIndex = -1
  }
  for (const mark of root.querySelectorAll<HTMLElement>('.note-mark')) {
    const label = mark.textContent ?? ''
    const letter = letters.get(label)
    if (letter === undefined) mark.replaceWith(`[^${label}]`)
    else mark.replaceChildren(buttonTo(letter, mark))
  }
}

function buttonTo(letter: string, mark: HTMLElement): HTMLButtonElement {
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
