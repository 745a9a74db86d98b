import { createLoader } from './loader.ts'

type Typeset = typeof import('./typeset.ts').typeset

const withTypeset = createLoader(() => import('./typeset.ts'))

/** Renders the formulas within, as soon as the renderer is loaded. Invalid LaTeX stays as text. */
export function drawFormulas(root: ParentNode): void {
  const formulas = root.querySelectorAll<HTMLElement>('.formula')
  if (formulas.length === 0) return
  withTypeset(({ typeset }) => {
    for (const formula of formulas) drawFormula(formula, typeset)
  })
}

function drawFormula(formula: HTMLElement, typeset: Typeset): void {
  // The reader may have marked it, as a whole or in part.
  const place = formula.childNodes.length === 1 ? (formula.firstElementChild ?? formula) : undefined
  const drawn = place && typeset(place.textContent ?? '')
  if (!drawn) return
  place.replaceChildren(drawn)
  if (!formula.querySelector('math[display="block"]')) return
  // A wide one is scrolled.
  formula.tabIndex = 0
  formula.role = 'group'
  formula.ariaLabel = 'Formula'
}
