import { latexOf } from './latex-symbols.ts'
import { localName } from './xml.ts'

// Office Math Markup: ECMA-376, part 1, 22.1.

/** In structures that are nested deeper, only their text is read: each level copies what is in it. */
const MAX_STRUCTURES = 40

/** An element of an equation that is open. */
interface Frame {
  name: string
  /** The LaTeX of all that is in it, in order. */
  latex: string
  /** The same by element. */
  parts: Map<string, string[]>
  /** The values of its properties: of `m:chr` in `m:naryPr`, for example. */
  values: Map<string, string>
}

/** An equation, which is given element by element. Elements and properties are known by their names without prefix. */
export function createEquation() {
  const frames: Frame[] = [newFrame('oMath')]

  return {
    open(qualified: string, attributes: Record<string, string>): void {
      const name = localName(qualified)
      const owner = frames.at(-1)?.name.endsWith('Pr') ? frames.at(-2) : undefined
      owner?.values.set(name, attributes['m:val'] ?? 'on')
      frames.push(newFrame(name))
    },

    text(data: string): void {
      const frame = frames.at(-1)
      if (frame?.name === 't') frame.latex += data
    },

    close(qualified: string): void {
      const frame = frames.at(-1)
      const parent = frames.at(-2)
      if (!frame || !parent || frame.name !== localName(qualified)) return
      frames.pop()
      if (OMITTED.test(frame.name)) return
      const write = frames.length > MAX_STRUCTURES ? undefined : STRUCTURES.get(frame.name)
      const latex = write ? write(partsOf(frame)) : frame.latex
      parent.latex += latex
      const same = parent.parts.get(frame.name)
      if (same) same.push(latex)
      else parent.parts.set(frame.name, [latex])
    },

    /** As LaTeX without signs around it; '' if there is nothing in it. */
    toLatex: (): string =>
      (frames[0]?.latex ?? '')
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/ (?=[}^_])/g, '')
        .trim(),
  }
}

/** Properties, and text that was deleted while changes were tracked. */
const OMITTED = /Pr$|^del$|^moveFrom$/

const newFrame = (name: string): Frame => ({
  name,
  latex: '',
  parts: new Map(),
  values: new Map(),
})

function partsOf({ latex, parts, values }: Frame) {
  return {
    latex,
    all: (name: string) => parts.get(name) ?? [],
    one: (name: string) => (parts.get(name) ?? []).join(''),
    value: (name: string) => values.get(name),
    isOn: (name: string) => !['off', '0', 'false', undefined].includes(values.get(name)),
  }
}

type Parts = ReturnType<typeof partsOf>

/** The LaTeX of each structure; of elements that are not here, it is that of what is in them. */
const STRUCTURES: ReadonlyMap<string, (parts: Parts) => string> = new Map(
  Object.entries({
    r: writeRun,
    f: writeFraction,
    sSup: (of) => `${base(of)}^{${of.one('sup')}}`,
    sSub: (of) => `${base(of)}_{${of.one('sub')}}`,
    sSubSup: (of) => `${base(of)}_{${of.one('sub')}}^{${of.one('sup')}}`,
    sPre: (of) => `{}_{${of.one('sub')}}^{${of.one('sup')}}${base(of)}`,
    rad: (of) =>
      of.isOn('degHide') || of.one('deg') === ''
        ? `\\sqrt{${of.one('e')}}`
        : `\\sqrt[${of.one('deg')}]{${of.one('e')}}`,
    nary: writeNary,
    d: writeDelimiters,
    func: (of) => `${functionName(of.one('fName'))} ${of.one('e')}`,
    limLow: (of) => limit(of, '_', '\\underset'),
    limUpp: (of) => limit(of, '^', '\\overset'),
    acc: (of) => `${accent(of.value('chr') ?? '\u0302')}{${of.one('e')}}`,
    bar: (of) => `${of.value('pos') === 'top' ? '\\overline' : '\\underline'}{${of.one('e')}}`,
    borderBox: (of) => `\\boxed{${of.one('e')}}`,
    groupChr: (of) =>
      `${of.value('pos') === 'top' ? '\\overbrace' : '\\underbrace'}{${of.one('e')}}`,
    m: (of) => `\\begin{matrix} ${of.all('mr').join(' \\\\ ')} \\end{matrix}`,
    mr: (of) => of.all('e').join(' & '),
    eqArr: (of) => `\\begin{aligned} ${of.all('e').join(' \\\\ ')} \\end{aligned}`,
  } satisfies Record<string, (parts: Parts) => string>),
)

const FUNCTIONS = new Set(
  'arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min sec sin sinh sup tan tanh'.split(
    ' ',
  ),
)

function writeRun({ latex, isOn }: Parts): string {
  if (FUNCTIONS.has(latex.trim())) return `\\${latex.trim()} `
  return isOn('nor') ? `\\text{${latexOf(latex)}}` : latexOf(latex)
}

function writeFraction({ one, value }: Parts): string {
  const [above, below] = [one('num'), one('den')]
  if (value('type') === 'lin' || value('type') === 'skw') return `{${above}}/{${below}}`
  return value('type') === 'noBar' ? `{${above} \\atop ${below}}` : `\\frac{${above}}{${below}}`
}

function writeNary({ one, value, isOn }: Parts): string {
  const lower = isOn('subHide') ? '' : one('sub')
  const upper = isOn('supHide') ? '' : one('sup')
  const limits = `${lower && `_{${lower}}`}${upper && `^{${upper}}`}`
  return `${latexOf(value('chr') ?? '∫')}${limits} ${one('e')}`
}

function writeDelimiters({ all, value }: Parts): string {
  const sign = (name: string, usual: string) => latexOf(value(name) ?? usual) || '.'
  const within = all('e').join(` ${latexOf(value('sepChr') ?? '|')} `)
  return `\\left${sign('begChr', '(')} ${within} \\right${sign('endChr', ')')} `
}

/** A letter, a digit or a command needs no braces. */
const ATOM = /^(?:[\p{L}\p{N}]|\\[A-Za-z]+)$/u

function base({ one }: Parts): string {
  const latex = one('e').trim()
  return ATOM.test(latex) ? latex : `{${latex}}`
}

const functionName = (latex: string) =>
  /^[A-Za-z]{2,30}$/.test(latex) ? `\\operatorname{${latex}}` : latex

function limit({ one }: Parts, sign: string, command: string): string {
  const of = one('e').trim()
  return FUNCTIONS.has(of.slice(1))
    ? `${of}${sign}{${one('lim')}}`
    : `${command}{${one('lim')}}{${of}}`
}

const ACCENTS: ReadonlyMap<string, string> = new Map([
  ['\u0300', '\\grave'],
  ['\u0301', '\\acute'],
  ['\u0302', '\\hat'],
  ['\u0303', '\\tilde'],
  ['\u0304', '\\bar'],
  ['\u0305', '\\overline'],
  ['\u0306', '\\breve'],
  ['\u0307', '\\dot'],
  ['\u0308', '\\ddot'],
  ['\u030c', '\\check'],
  ['\u20d7', '\\vec'],
])

const accent = (sign: string) => ACCENTS.get(sign) ?? `\\overset{${latexOf(sign)}}`
