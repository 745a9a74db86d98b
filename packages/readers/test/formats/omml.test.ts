import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { createEquation } from '../../src/formats/omml.ts'
import { readXml } from '../../src/formats/xml.ts'

function latexOf(xml: string): string {
  const equation = createEquation()
  readXml(xml, equation)
  return equation.toLatex()
}

const r = (text: string) =>
  `<m:r><w:rPr><w:rFonts w:ascii="Cambria Math"/></w:rPr><m:t>${text}</m:t></m:r>`
const el = (name: string, ...within: string[]) => `<m:${name}>${within.join('')}</m:${name}>`
/** With the properties that Word writes, and how the signs of the structure are formatted. */
const structure = (name: string, values: Record<string, string>, ...within: string[]) =>
  el(
    name,
    `<m:${name}Pr>${Object.entries(values)
      .map(([property, value]) => `<m:${property} m:val="${value}"/>`)
      .join('')}<m:ctrlPr><w:rPr><w:i/></w:rPr></m:ctrlPr></m:${name}Pr>`,
    ...within,
  )
const e = (text: string) => el('e', r(text))

describe('An equation of Word is LaTeX', () => {
  it.each([
    ['a fraction', structure('f', {}, el('num', r('a+b')), el('den', r('c'))), '\\frac{a+b}{c}'],
    [
      'a fraction in a line',
      structure('f', { type: 'lin' }, el('num', r('a')), el('den', r('b'))),
      '{a}/{b}',
    ],
    ['scripts', el('sSubSup', e('x'), el('sub', r('i')), el('sup', r('2'))), 'x_{i}^{2}'],
    ['a power of a sum', el('sSup', e('a+b'), el('sup', r('n'))), '{a+b}^{n}'],
    ['an index of a Greek letter', el('sSub', e('α'), el('sub', r('0'))), '\\alpha_{0}'],
    ['scripts before', el('sPre', el('sub', r('6')), el('sup', r('14')), e('C')), '{}_{6}^{14}C'],
    ['a square root', structure('rad', { degHide: '1' }, el('deg'), e('x')), '\\sqrt{x}'],
    ['a cube root', el('rad', el('deg', r('3')), e('x')), '\\sqrt[3]{x}'],
    [
      'a sum',
      structure(
        'nary',
        { chr: '∑', limLoc: 'undOvr' },
        el('sub', r('i=1')),
        el('sup', r('∞')),
        e('i'),
      ),
      '\\sum_{i=1}^{\\infty} i',
    ],
    [
      'an integral',
      structure('nary', { supHide: '1' }, el('sub', r('Ω')), el('sup'), e('f dx')),
      '\\int_{\\Omega} f dx',
    ],
    [
      'brackets',
      structure('d', { begChr: '[', endChr: '' }, e('a'), e('b')),
      '\\left[ a \\vert b \\right.',
    ],
    [
      'a matrix in parentheses',
      el('d', el('e', structure('m', {}, el('mr', e('1'), e('0')), el('mr', e('0'), e('1'))))),
      '\\left( \\begin{matrix} 1 & 0 \\\\ 0 & 1 \\end{matrix} \\right)',
    ],
    ['a function', el('func', el('fName', r('sin')), e('x')), '\\sin x'],
    [
      'a function without a name in LaTeX',
      el('func', el('fName', r('sgn')), e('x')),
      '\\operatorname{sgn} x',
    ],
    [
      'a limit',
      el('func', el('fName', el('limLow', e('lim'), el('lim', r('n→∞')))), e('a')),
      '\\lim_{n\\rightarrow \\infty} a',
    ],
    ['accents', `${el('acc', e('x'))}${structure('acc', { chr: '⃗' }, e('v'))}`, '\\hat{x}\\vec{v}'],
    ['bars', structure('bar', { pos: 'top' }, e('x')), '\\overline{x}'],
    [
      'equations below each other',
      el('eqArr', e('x&amp;=1'), e('y&amp;=2')),
      '\\begin{aligned} x&=1 \\\\ y&=2 \\end{aligned}',
    ],
    ['words', '<m:r><m:rPr><m:nor/></m:rPr><m:t>50% of it</m:t></m:r>', '\\text{50\\% of it}'],
    ['letters in italics', r('𝑥≤𝒚'), 'x\\le y'],
    ['what is unknown', el('constructor', el('toString', e('x')), e('_y')), 'x\\_y'],
  ])('%s', (_case, xml, latex) => expect(latexOf(xml)).toBe(latex))

  it('without what was deleted while changes were tracked', () => {
    expect(latexOf(`${r('a')}<w:del>${r('b')}</w:del><w:ins>${r('c')}</w:ins>`)).toBe('ac')
  })

  it('however wide or deep it is, in little time', onlyLong, () => {
    const deep = `${'<m:e><m:rad>'.repeat(400)}<m:r><m:t>${'x'.repeat(1_000_000)}</m:t></m:r>${'</m:rad></m:e>'.repeat(400)}`
    const wide = el('m', el('mr', e('x').repeat(50_000)).repeat(4))
    const started = processorMs()
    expect(latexOf(deep)).toContain('xxx')
    expect(latexOf(wide).match(/x/g)).toHaveLength(200_000 + 2)
    expect(processorMs() - started).toBeLessThan(5_000)
  })
})
